#include "proxy/forward/request/upload_stall.hpp"

#include <algorithm>

namespace reprise::forward {
namespace {

// A reachable host acknowledges received bytes in less time than this.
constexpr Duration patience = std::chrono::seconds(1);
constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

void UploadStall::watch() {
  if (deadline_ && out_.body.has_body()) tick_.arm_until(*this, *deadline_ - patience);
}

void UploadStall::time_is_up() {
  const std::uint64_t unacknowledged = upstream_.unacknowledged();
  const std::uint64_t body_sent = upstream_.sent_bytes() - std::min(upstream_.sent_bytes(), head_bytes_);
  const bool all_is_here = unacknowledged == 0 && upload_.end() == UploadEnd::sent;
  if (all_is_here || unacknowledged < body_sent) return;
  const Instant now = net::Tick::now();
  if (unacknowledged == 0 || !waiting_since_) waiting_since_ = now;
  const bool stalled = now >= *deadline_ && now - *waiting_since_ >= patience;
  if (stalled && out_.may_be_repeated()) {
    ended_attempt_ = true;
    upstream_.cancel();
  } else {
    tick_.arm(*this, between_looks);
  }
}

}  // namespace reprise::forward
