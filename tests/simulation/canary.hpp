// Canaries: deliberate defects of the simulation, which its laws must detect. They prove that the laws work.
#pragma once

#include <cstdint>

namespace reprise::simulation {

enum class Canary : std::uint8_t {
  none,
  repeated_effect,   ///< each effect at an upstream counts twice
  wrong_byte,        ///< one byte of a long response is changed on its way to the proxy
  old_name,          ///< the resolver returns the first result of a name forever
  unnamed_change,    ///< a representation changes between two responses, but its version field does not
  lost_end,          ///< the last byte of a response is missing, and its FIN is sent anyway
  deaf_kernel,       ///< the kernel never reports unacknowledged bytes
  used_before,       ///< every connection is treated as reused
  one_connection,    ///< all connections are treated as the same connection
  clear_text,        ///< no upstream connection is known to carry TLS
  processed_anyway,  ///< an upstream processes the streams that it then refuses, or excludes with GOAWAY
  kept_window,       ///< the proxy never gives back a part of a connection's window
  foreign_death,     ///< the end of one HTTP/2 connection also ends another one, which is not recorded
};

}  // namespace reprise::simulation
