// The result of reading the next piece of a message body.
#pragma once

#include <cstdint>

namespace reprise::net {

enum class BodyStep : std::uint8_t {
  piece,      ///< bytes were read
  end,        ///< the body is complete
  malformed,  ///< the body's framing is malformed, for example its chunked coding
  closed,     ///< FIN before the end of the body; over TLS also FIN without close_notify
  failed,     ///< reset or another error
  stalled,    ///< no byte arrived within the read limit
};

}  // namespace reprise::net
