// A defect of the story itself, which its laws have to find: proof that they look.
#pragma once

#include <cstdint>

namespace reprise::simulation {

enum class Canary : std::uint8_t {
  none,
  repeated_effect,  ///< what reaches an upstream takes effect once more
  wrong_byte,       ///< a byte of a response is another one when it reaches the proxy
  old_name,         ///< a name is answered as it was the first time, for ever
  unnamed_change,   ///< a representation changes between two responses, and the field of its version does not
  lost_end,         ///< the last byte of a response is missing, and its end is told all the same
  deaf_kernel,      ///< nothing is ever known to be unacknowledged
  used_before,      ///< every connection has served before
  one_connection,   ///< all connections are the same one
  clear_text,       ///< no connection to an upstream is known to run over TLS
};

}  // namespace reprise::simulation
