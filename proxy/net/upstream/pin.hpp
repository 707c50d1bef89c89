// The upstream connection that belongs to one client connection, because it was authenticated on it (row F2).
#pragma once

#include <memory>

#include "proxy/net/upstream/pool.hpp"

namespace reprise::net {

/// A session's. Holds at most one connection at rest; it goes with the client's.
class Pin {
 public:
  /// From now on the connection comes back here, never to the pool.
  void hold(UpstreamConnection& connection) { connection.pin_to(*this); }
  /// At rest again; what rested here before is closed.
  void rest(std::unique_ptr<UpstreamConnection> connection) { resting_ = std::move(connection); }
  /// The one at rest, if it is that upstream's and quiet; a dead one is closed.
  std::unique_ptr<UpstreamConnection> take(const Upstream&);
  /// True if nothing rests here.
  bool empty() const { return resting_ == nullptr; }
  /// True if what rests here is that upstream's.
  bool holds(const Upstream& upstream) const {
    return resting_ != nullptr && &resting_->upstream() == &upstream;
  }

 private:
  std::unique_ptr<UpstreamConnection> resting_;
};

}  // namespace reprise::net
