#include "proxy/net/io/client_watch.hpp"

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
  have_looked_out();
  tick_.arm(*this, interval);
}

void ClientWatch::have_looked_out() {
  const Instant now = Tick::now();
  if (next_lookout_ == Instant{}) next_lookout_ = now + lookout_interval - interval;
  if (now < next_lookout_) return;
  next_lookout_ = now + lookout_interval;
  if (Cancellable* const attempt = attempt_.get()) attempt->look_out();
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
