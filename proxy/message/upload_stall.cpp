#include "proxy/message/upload_stall.hpp"

namespace reprise::net {
namespace {

constexpr Duration patience = std::chrono::seconds(1);
constexpr Duration between_looks = std::chrono::milliseconds(100);

}  // namespace

void UploadStall::watch() {
  if (deadline_ && request_.body.has_body()) tick_.arm_until(*this, *deadline_ - patience);
}

void UploadStall::time_is_up() {
  const Instant now = Tick::now();
  const Outflow outflow = upstream_.outflow();
  if (!outflow.waits && upload_.end() == UploadEnd::sent) return;
  if (!outflow.waits || !seen_ || seen_->taken != outflow.taken) moved_ = now;
  seen_ = outflow;
  const bool stalled = now >= *deadline_ && now - moved_ >= patience;
  if (stalled && may_be_repeated(request_)) {
    ended_attempt_ = true;
    upstream_.cancel();
  } else {
    tick_.arm(*this, between_looks);
  }
}

}  // namespace reprise::net
