#include "proxy/server/signals.hpp"

#include <boost/asio/co_spawn.hpp>
#include <csignal>
#include <utility>

namespace reprise::net {

Signals::Signals(asio::io_context& io, Handlers handlers)
    : end_(io, SIGTERM, SIGINT), hangup_(io, SIGHUP), handlers_(std::move(handlers)) {
  asio::co_spawn(io, wait_for_end(*this), or_abort);
  asio::co_spawn(io, wait_for_hangups(*this), or_abort);
}

// Asio leaves a signal as it was at the program's start, and the log may still take a moment.
Signals::~Signals() {
  ErrorCode ignored;
  hangup_.clear(ignored);
  std::signal(SIGHUP, SIG_IGN);
}

Task<void> Signals::wait_for_end(Signals& signals) {
  co_await signals.end_.async_wait(as_result);
  signals.handlers_.stop();
  co_await signals.end_.async_wait(as_result);
  signals.handlers_.stop_now();
}

Task<void> Signals::wait_for_hangups(Signals& signals) {
  for (;;) {
    const auto [error, signal] = co_await signals.hangup_.async_wait(as_result);
    if (error) co_return;
    signals.handlers_.reload();
  }
}

}  // namespace reprise::net
