#include "proxy/forward/tunnel/first_byte_watch.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::forward {

FirstByteWatch::FirstByteWatch(net::Stream& watched, net::Stream& interrupted)
    : watched_(watched), interrupted_(interrupted), joined_(watched.executor()) {
  asio::co_spawn(watched.executor(), run(*this), or_abort);
}

// The watch needs no time limit of its own, because the caller stops the watch after the wait on the other
// connection.
Task<void> FirstByteWatch::run(FirstByteWatch& watch) {
  if (!watch.stopped_) co_await watch.watched_.wait_readable();
  if (!watch.stopped_) {
    const net::Unread unread = watch.watched_.open() ? watch.watched_.unread() : net::Unread::closed;
    watch.arrived_ = unread == net::Unread::bytes;
    watch.ended_ = unread == net::Unread::closed;
    if (watch.arrived_ || watch.ended_) watch.interrupted_.end_read();
  }
  watch.over_ = true;
  watch.joined_.cancel();
}

Task<void> FirstByteWatch::stop() {
  stopped_ = true;
  if (!over_) watched_.end_read();
  while (!over_) {
    joined_.expires_at(Instant::max());
    co_await joined_.async_wait(as_result);
  }
}

ErrorCode detected_end(net::Stream& stream) {
  const net::Presence presence = stream.presence();
  if (presence == net::Presence::present || stream.unread() != net::Unread::closed) return {};
  if (presence == net::Presence::finished) return asio::error::eof;
  return asio::error::connection_reset;
}

}  // namespace reprise::forward
