// Keeps an upstream connection for one client connection, because the client was authenticated on that
// upstream connection (row F2).
#pragma once

#include <memory>

#include "proxy/net/upstream/pool.hpp"

namespace reprise::net {

/// One per session. Holds at most one idle connection, and closes it when the client's connection ends.
class Pin {
 public:
  /// Makes the connection return to this pin instead of the pool.
  void hold(UpstreamConnection& connection) { connection.pin_to(*this); }
  /// Stores the connection as idle. If another connection is stored already, closes that one.
  void make_idle(std::unique_ptr<UpstreamConnection> connection) { idle_ = std::move(connection); }
  /// Returns the idle connection if it belongs to that upstream and has no unread bytes; else null. If the
  /// idle connection has ended, closes it.
  std::unique_ptr<UpstreamConnection> take(const Upstream&);
  /// Returns true if there is no idle connection.
  bool empty() const { return idle_ == nullptr; }
  /// Returns true if the idle connection belongs to that upstream.
  bool holds(const Upstream& upstream) const { return idle_ != nullptr && &idle_->upstream() == &upstream; }

 private:
  std::unique_ptr<UpstreamConnection> idle_;
};

}  // namespace reprise::net
