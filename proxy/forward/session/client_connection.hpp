// A client's connection between accept and close: where it came in, and what is known of it from one request
// to the next.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// What a listener tells its sessions. Immutable.
struct ListenerRole {
  config::Listener settings;
  std::string name{};                ///< `forward 127.0.0.1:3128`
  http::PortRanges connect_ports{};  ///< where CONNECT and SOCKS may go
  std::string upstream_authority{};  ///< gateway with `host: upstream`: what Host says; else empty
  bool reached_by_others = false;    ///< it is bound to more than loopback

  const ListenerMode& mode() const { return mode_of(settings.mode); }
};

/// One listening socket on one io thread, and what is told to those who come through it. Used on that thread.
struct Listener {
  std::shared_ptr<const ListenerRole> role;  ///< the newest: a reload may give it another
  std::optional<tcp::acceptor> acceptor{};   ///< absent: connections are handed in by somebody else
  bool closed = false;                       ///< nobody comes any more; who is there leaves after a response
};

/// The two ends of a client's connection.
struct ConnectionEnds {
  tcp::endpoint client;
  /// The address that the client connected to, as ListenerMode::asked_address gives it.
  tcp::endpoint listener;
};

/// One of limits.connections, counted for as long as it is held.
struct LeavePlace {
  void operator()(Shared* shared) const {
    shared->metrics.client_disconnected();
    shared->client_connections.fetch_sub(1, std::memory_order_relaxed);
  }
};
using ClientPlace = std::unique_ptr<Shared, LeavePlace>;
/// Of a client that `client_connections` counts already.
ClientPlace place_of_client(Shared&);

/// Handed from the listener to a session, and from a session to the next.
struct ClientConnection {
  net::Carrier carrier;
  std::shared_ptr<const Listener> listener;
  /// What it is spoken to in, whatever a reload makes of the listener.
  std::shared_ptr<const ListenerRole> role;
  ConnectionEnds ends;
  ClientPlace place;
  /// Whose connections carried the last request that is not repeatable.
  const net::Upstream* took_risk_of = nullptr;
  bool had_request = false;  ///< it carried one before
};

}  // namespace reprise::forward
