#include "proxy/tunnel/first_byte_watch.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::net {

FirstByteWatch::FirstByteWatch(Stream& listened_to, Stream& interrupted)
    : listened_to_(listened_to), interrupted_(interrupted), joined_(listened_to.executor()) {
  asio::co_spawn(listened_to.executor(), listen(*this), or_abort);
}

// The other wait has the limit: when it ends, so does this.
Task<void> FirstByteWatch::listen(FirstByteWatch& watch) {
  if (!watch.stopped_) co_await watch.listened_to_.wait_readable();
  if (!watch.stopped_) {
    const Unread unread = watch.listened_to_.open() ? watch.listened_to_.unread() : Unread::closed;
    watch.heard_ = unread == Unread::bytes;
    watch.ended_ = unread == Unread::closed;
    if (watch.heard_ || watch.ended_) watch.interrupted_.end_read();
  }
  watch.over_ = true;
  watch.joined_.cancel();
}

Task<void> FirstByteWatch::stop() {
  stopped_ = true;
  if (!over_) listened_to_.end_read();
  while (!over_) {
    joined_.expires_at(Instant::max());
    co_await joined_.async_wait(as_result);
  }
}

ErrorCode heard_end(Stream& stream) {
  const Presence presence = stream.presence();
  if (presence == Presence::present || stream.unread() != Unread::closed) return {};
  if (presence == Presence::finished) return asio::error::eof;
  return asio::error::connection_reset;
}

}  // namespace reprise::net
