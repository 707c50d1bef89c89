// A wait that ends at a set time or when it is cancelled, such as the backoff between two attempts.
#pragma once

#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// One per session, reused for every wait.
class Pause final : public Cancellable {
 public:
  explicit Pause(const asio::any_io_executor& executor) : timer_(executor) {}

  Task<void> until(Instant due) {
    timer_.expires_at(due);
    co_await timer_.async_wait(as_result);
  }
  void cancel() override { timer_.cancel(); }

 private:
  Timer timer_;
};

}  // namespace reprise::net
