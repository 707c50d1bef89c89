#include "proxy/net/upstream/pin.hpp"

namespace reprise::net {

std::unique_ptr<UpstreamConnection> Pin::take(const Upstream& upstream) {
  if (!holds(upstream)) return nullptr;
  if (resting_->stream().unread() == Unread::nothing) return std::move(resting_);
  resting_.reset();
  return nullptr;
}

}  // namespace reprise::net
