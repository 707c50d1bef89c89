// The state of one client connection that outlives a single request, over HTTP/1 or HTTP/2.
#pragma once

#include <memory>
#include <string>

#include "proxy/forward/session/client_connection.hpp"
#include "proxy/net/upstream/pin.hpp"

namespace reprise::forward {

/// Used on one io thread, which `worker` belongs to.
class Client {
 public:
  Client(Worker&, const ClientConnection&);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Borrows a request from the worker and fills in client, listener and configuration.
  std::unique_ptr<Request> begin_request();
  /// Clears the request and returns it to the worker.
  void end_request(std::unique_ptr<Request>);
  /// Pins the current configuration snapshot to the request.
  void pin_current_snapshot(Request&);
  /// Returns the client as `address:port`.
  std::string_view name();

  Worker& worker;
  net::Pin pin;
  const std::shared_ptr<const Listener> listener;
  std::shared_ptr<const ListenerRole> role;  ///< settings that apply to the current request
  const ConnectionEnds ends;
  const net::Upstream* non_repeatable_upstream;
  bool had_request;         ///< the connection has carried a request before the current one
  const bool is_websocket;  ///< see ClientConnection

 protected:
  ~Client() = default;

 private:
  std::string name_;  // empty until first used
};

}  // namespace reprise::forward
