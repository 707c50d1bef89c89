// Watches one connection. When a byte arrives or the connection ends, interrupts a wait on another
// connection.
#pragma once

#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Watches without reading. Both streams must outlive this object, and `stop` must be awaited before this
/// object is destroyed.
class FirstByteWatch {
 public:
  /// Ends a read of `interrupted`, or a wait for readable bytes on it, as soon as `watched` has a byte or has
  /// ended.
  FirstByteWatch(net::Stream& watched, net::Stream& interrupted);
  FirstByteWatch(const FirstByteWatch&) = delete;
  FirstByteWatch& operator=(const FirstByteWatch&) = delete;

  bool arrived() const { return arrived_; }
  /// Returns true if a FIN or RST has arrived with no byte before it.
  bool ended() const { return ended_; }
  Task<void> stop();

 private:
  static Task<void> run(FirstByteWatch&);

  net::Stream& watched_;
  net::Stream& interrupted_;
  net::Timer joined_;
  bool stopped_ = false;
  bool arrived_ = false;
  bool ended_ = false;
  bool over_ = false;
};

/// Returns how the connection has ended: `eof` for a FIN with no unread byte, `connection_reset` for a reset,
/// and no error while there may be bytes to read. Call before a read that follows a FirstByteWatch: epoll is
/// edge-triggered and has reported the end only to the watch, so the read would wait forever.
ErrorCode detected_end(net::Stream&);

}  // namespace reprise::forward
