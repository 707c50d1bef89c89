// A client's connection between accept and close, with the state that outlives a single request.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/worker/worker.hpp"

namespace reprise::forward {

/// Settings of a listener that its sessions use. Immutable.
struct ListenerRole {
  config::Listener settings;
  std::string name{};                ///< mode and address, such as `forward 127.0.0.1:3128`
  http::PortRanges connect_ports{};  ///< ports that CONNECT and SOCKS may reach
  /// Value of the Host field in requests to the upstream, if a gateway sets it; else empty.
  std::string upstream_authority{};
  bool reached_by_others = false;  ///< the listener is bound to an address other than loopback

  const ListenerMode& mode() const { return mode_of(settings.mode); }
};

/// One listening socket on one io thread, and the settings for its connections. Used on that thread only.
struct Listener {
  std::shared_ptr<const ListenerRole> role;  ///< current settings; a reload replaces them
  std::optional<tcp::acceptor> acceptor{};   ///< absent: other code accepts the connections
  bool closed = false;  ///< accepts no new connections; open ones close after their current response
};

/// The two ends of a client's connection.
struct ConnectionEnds {
  tcp::endpoint client;
  /// The address that the client connected to, as returned by ListenerMode::asked_address.
  tcp::endpoint listener;
};

/// Deleter that stops counting one client towards `limits.connections`.
struct LeavePlace {
  void operator()(Shared* shared) const {
    shared->metrics.client_disconnected();
    shared->client_connections.fetch_sub(1, std::memory_order_relaxed);
  }
};
using ClientPlace = std::unique_ptr<Shared, LeavePlace>;
/// Returns an object for a client that is already counted in the gauge `client_connections`. Its destruction
/// ends the counting of this client.
ClientPlace place_of_client(Shared&);

/// A client's connection with its settings. The listener passes it to a session; a session may pass it to a
/// later session.
struct ClientConnection {
  net::Carrier carrier;
  std::shared_ptr<const Listener> listener;
  /// Settings that the connection uses. A reload never changes the protocol of an open connection.
  std::shared_ptr<const ListenerRole> role;
  ConnectionEnds ends;
  ClientPlace place;
  /// Upstream or parent that received this client's last non-repeatable request.
  const net::Upstream* non_repeatable_upstream = nullptr;
  bool had_request = false;   ///< the connection has carried a request before
  bool is_websocket = false;  ///< the connection is a stream of HTTP/2 that asks for a WebSocket (row M12)
  /// Identifies the client connection that the stream belongs to, see Pin; null if it is this connection.
  std::shared_ptr<const void> client{};
};

}  // namespace reprise::forward
