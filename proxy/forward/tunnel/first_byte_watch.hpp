// Listens to one connection while another is waited on: when something has come, or that connection has
// ended, the other wait ends.
#pragma once

#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Reads nothing. Both streams must outlive it, and `stop` must be awaited before it is destroyed.
class FirstByteWatch {
 public:
  /// Ends a read, or a wait for one, of `interrupted` as soon as `listened_to` has a byte or has ended.
  FirstByteWatch(net::Stream& listened_to, net::Stream& interrupted);
  FirstByteWatch(const FirstByteWatch&) = delete;
  FirstByteWatch& operator=(const FirstByteWatch&) = delete;

  bool heard() const { return heard_; }
  /// FIN or RST has come, and no byte before it.
  bool ended() const { return ended_; }
  Task<void> stop();

 private:
  static Task<void> listen(FirstByteWatch&);

  net::Stream& listened_to_;
  net::Stream& interrupted_;
  net::Timer joined_;
  bool stopped_ = false;
  bool heard_ = false;
  bool ended_ = false;
  bool over_ = false;
};

/// The end of that connection, which whoever listened to it may have been told already: it is told once
/// (epoll is edge-triggered), so that a read would wait for ever. `eof` for a FIN with nothing before it,
/// else `connection_reset`; no error while there may be something to read.
ErrorCode heard_end(net::Stream&);

}  // namespace reprise::forward
