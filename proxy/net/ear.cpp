#include "proxy/net/ear.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::net {

Ear::Ear(Loop& loop, Stream& listened_to, Stream& interrupted)
    : listened_to_(listened_to), interrupted_(interrupted), joined_(loop.io) {
  asio::co_spawn(loop.io, listen(*this), or_abort);
}

// The other wait has the limit: when it ends, so does this.
Task<void> Ear::listen(Ear& ear) {
  if (!ear.stopped_) co_await ear.listened_to_.wait_readable();
  if (!ear.stopped_) {
    ear.heard_ = ear.listened_to_.open() && ear.listened_to_.unread() == Unread::bytes;
    if (ear.heard_) ear.interrupted_.end_read();
  }
  ear.over_ = true;
  ear.joined_.cancel();
}

Task<void> Ear::stop() {
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
