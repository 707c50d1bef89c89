#include "proxy/forward/exchange/stalled_body.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::forward {

void StalledBody::start() {
  runs_ = true;
  upstream_.end_limit();
  asio::co_spawn(upstream_.executor(), run(*this), or_abort);
}

Task<void> StalledBody::run(StalledBody& body) {
  const ErrorCode error = co_await body.upstream_.wait_readable();
  if (!body.stopping_) {
    body.state_ = error || body.upstream_.unread() == net::Unread::closed ? State::ended : State::awake;
    net::Cancellable* const other = body.other_.get();
    if (body.state_ == State::awake && other != nullptr) other->cancel();
  }
  body.runs_ = false;
  body.over_.cancel();
}

Task<void> StalledBody::stop() {
  stopping_ = true;
  if (!runs_) co_return;
  upstream_.end_read();
  while (runs_) co_await over_.until(Instant::max());
}

}  // namespace reprise::forward
