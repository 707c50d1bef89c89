// What one client connection keeps of its upstream connections: the one on which the client was authenticated
// (row F2), and its claim to HTTP/2 connections (row M53).
#pragma once

#include <memory>

#include "proxy/net/upstream/pool.hpp"

namespace reprise::net {

/// One per session. Holds at most one idle connection, and closes it when the client's connection ends.
class Pin {
 public:
  /// `client`: the object that identifies the client connection. Null: the pin makes its own.
  explicit Pin(std::shared_ptr<const void> client) : client_(std::move(client)) {}
  /// Makes the connection return to this pin instead of the pool.
  void hold(UpstreamConnection& connection) { connection.pin_to(*this); }
  /// Stores the connection as idle. If another connection is stored already, closes that one.
  void make_idle(std::unique_ptr<UpstreamConnection> connection) { idle_ = std::move(connection); }
  /// Returns the idle connection if it belongs to that upstream and has no unread bytes; else null. If the
  /// idle connection has ended, closes it.
  std::unique_ptr<UpstreamConnection> take(const Upstream&);
  /// Returns true if there is no idle connection.
  bool empty() const { return idle_ == nullptr; }
  /// Makes this client's later requests to the upstream go over HTTP/1, because a connection is needed that
  /// can be pinned (row M30).
  void require_http1(const Upstream& upstream) { http1_only_ = &upstream; }
  bool requires_http1(const Upstream& upstream) const { return http1_only_ == &upstream || holds(upstream); }
  /// Returns an object that identifies the client connection and lives as long as it.
  const std::shared_ptr<const void>& client() {
    if (client_ == nullptr) client_ = std::make_shared<const char>();
    return client_;
  }
  /// Returns true if the idle connection belongs to that upstream.
  bool holds(const Upstream& upstream) const { return idle_ != nullptr && &idle_->upstream() == &upstream; }

 private:
  std::unique_ptr<UpstreamConnection> idle_;
  std::shared_ptr<const void> client_;  ///< null until first used
  const Upstream* http1_only_ = nullptr;
};

}  // namespace reprise::net
