#include "proxy/net/watch.hpp"

#include <poll.h>

namespace reprise::net {

void Watch::look() {
  pollfd asked{descriptor_, POLLIN | POLLRDHUP, 0};
  if (::poll(&asked, 1, 0) <= 0) return;
  if ((asked.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    report_reset();
  } else if ((asked.revents & POLLRDHUP) != 0 && !finished_) {
    finished_ = true;
    end_wait();
  }
}

void Watch::time_is_up() {
  look();
  if (!reset_) tick_.arm(*this, interval);
}

void Watch::report_reset() {
  if (reset_) return;
  reset_ = true;
  if (attempt_ != nullptr) attempt_->cancel();
  end_wait();
}

void Watch::shut_down() {
  shutting_down_ = true;
  end_wait();
}

void Watch::end_wait() {
  if (wait_ != nullptr) wait_->cancel();
}

}  // namespace reprise::net
