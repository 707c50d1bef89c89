#include "proxy/net/watch.hpp"

namespace reprise::net {

void Watch::look() {
  const Presence presence = client_.presence();
  if (presence == Presence::reset) {
    report_reset();
  } else if (presence == Presence::finished && !finished_) {
    finished_ = true;
    end_wait();
  }
}

void Watch::time_is_up() {
  look();
  if (reset_) return;
  have_looked_out();
  tick_.arm(*this, interval);
}

void Watch::have_looked_out() {
  const Instant now = Tick::now();
  if (next_lookout_ == Instant{}) next_lookout_ = now + lookout_interval - interval;
  if (now < next_lookout_) return;
  next_lookout_ = now + lookout_interval;
  if (attempt_ != nullptr) attempt_->look_out();
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
