#include "proxy/forward/request/upload_stall.hpp"

namespace reprise::forward {
namespace {

// A reachable host acknowledges received bytes in less time than this.
constexpr Duration patience = std::chrono::seconds(1);
constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

void UploadStall::watch() {
  const bool waits = upload_.end() == UploadEnd::running;
  if (deadline_ && (out_.body.has_body() || waits)) tick_.arm_until(*this, *deadline_ - patience);
}

void UploadStall::time_is_up() {
  const auto [all_sent, some_of_body] = upstream_.acknowledged(head_bytes_);
  if (some_of_body || (all_sent && upload_.end() == UploadEnd::sent)) return;
  const Instant now = net::Tick::now();
  const bool client_pauses = all_sent && upstream_.all_sent();
  if (client_pauses || !waiting_since_) waiting_since_ = now;
  const bool stalled = now >= *deadline_ && now - *waiting_since_ >= patience;
  if (stalled && (out_.may_be_repeated() || !upstream_.may_have_sent())) {
    ended_attempt_ = true;
    upstream_.cancel();
  } else {
    tick_.arm(*this, between_looks);
  }
}

}  // namespace reprise::forward
