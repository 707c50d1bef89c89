#include "proxy/net/upstream/pin.hpp"

namespace reprise::net {

std::unique_ptr<UpstreamConnection> Pin::take(const Upstream& upstream) {
  if (!holds(upstream)) return nullptr;
  if (idle_->stream().unread() == Unread::nothing) return std::move(idle_);
  idle_.reset();
  return nullptr;
}

}  // namespace reprise::net
