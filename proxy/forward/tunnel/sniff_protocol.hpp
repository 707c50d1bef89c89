// Sniffs the protocol of a stream once it is established, by waiting for the first bytes of either side.
#pragma once

#include "proxy/http/message/first_bytes.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// The time limits for the first bytes.
struct SniffLimits {
  Duration before_first_byte;  ///< while the client has sent nothing
  /// Limit from the client's first byte on. If it equals `before_first_byte`, the first byte does not restart
  /// the time.
  Duration after_first_byte;
};

/// Waits for the first bytes and returns the detected protocol; never `more`. `upstream`: null if no upstream
/// is connected yet. If a request target is longer than `longest_target` bytes, the stream counts as opaque.
///
/// If the upstream sends SETTINGS of HTTP/2 first, the wait for the client's preface goes on. Appends the
/// client's bytes to `from_client` and reads nothing from the upstream. A FIN or RST of either
/// side ends the wait. The tunnel detects that end again and passes it on at once (row G7). Both streams can
/// be used afterwards.
Task<http::DetectedProtocol> sniff_protocol(net::Stream& client, net::Buffer& from_client,
                                            net::Stream* upstream, const http::Connect& tunnel,
                                            std::size_t longest_target, SniffLimits time);

}  // namespace reprise::forward
