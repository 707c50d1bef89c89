#include "proxy/net/ends/client_watch.hpp"

namespace reprise::net {

void ClientWatch::look() {
  const Presence presence = client_.presence();
  if (presence == Presence::reset) {
    report_reset();
  } else if (presence == Presence::finished) {
    report_finished();
  }
}

void ClientWatch::time_is_up() {
  look();
  if (reset_) return;
  check_attempt_liveness();
  tick_.arm(*this, interval);
}

void ClientWatch::check_attempt_liveness() {
  const Instant now = Tick::now();
  if (next_liveness_check_ == Instant{}) next_liveness_check_ = now + liveness_interval - interval;
  if (now < next_liveness_check_) return;
  next_liveness_check_ = now + liveness_interval;
  if (Cancellable* const attempt = attempt_.get()) attempt->check_liveness();
}

void ClientWatch::report_finished() {
  if (finished_) return;
  finished_ = true;
  end_wait();
  if (finishes_) finishes_();
}

void ClientWatch::report_reset() {
  if (reset_) return;
  reset_ = true;
  if (Cancellable* const attempt = attempt_.get()) attempt->cancel();
  end_wait();
}

void ClientWatch::shut_down() {
  shutting_down_ = true;
  end_wait();
}

void ClientWatch::end_wait() {
  if (Cancellable* const wait = wait_.get()) wait->cancel();
}

}  // namespace reprise::net
