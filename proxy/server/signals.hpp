// The signals that a running proxy listens to: SIGTERM and SIGINT end it, SIGHUP reloads.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <functional>

#include "proxy/io/task.hpp"

namespace reprise::net {

/// From its construction to its destruction; afterwards SIGHUP is ignored (row L18). One in a process.
class Signals {
 public:
  /// Called on the thread of the io_context.
  struct Handlers {
    std::function<void()> stop;      ///< the first SIGTERM or SIGINT
    std::function<void()> stop_now;  ///< the second
    std::function<void()> reload;    ///< each SIGHUP
  };

  Signals(asio::io_context& io, Handlers handlers);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static Task<void> wait_for_end(Signals&);
  static Task<void> wait_for_hangups(Signals&);

  asio::signal_set end_;
  asio::signal_set hangup_;
  Handlers handlers_;
};

}  // namespace reprise::net
