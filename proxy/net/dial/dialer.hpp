// The context of one dial: objects of the io thread, and the configuration of the request.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/dial/address_order.hpp"
#include "proxy/net/dial/own_dials.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/resolve/resolver.hpp"
#include "proxy/net/tls/tls_demands.hpp"
#include "proxy/net/upstream/pool.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// Makes links that replace sockets and OpenSSL, for simulations.
struct LinkFactory {
  /// Makes the transport of a new connection. If empty, a socket is used.
  std::function<std::unique_ptr<Link>(const asio::any_io_executor&)> make_link;
  /// Makes TLS over a link; `name` is the name that the upstream must prove. If empty, OpenSSL is used.
  std::function<std::unique_ptr<SecureLink>(Carrier, std::string_view name)> make_secure;
  /// Called before each dial of a race between several addresses; may be empty. `order`: the addresses of the
  /// race. `which`: the index of the address that is dialled now.
  std::function<void(std::span<const tcp::endpoint> order, std::size_t which)> race_dials;
};

/// Holds references to the objects that a dial uses. Must outlive the dial. Used on one io thread only.
struct Dialer {
  asio::any_io_executor executor;
  Tick& tick;
  Resolver& resolver;
  Pool& pool;  ///< its idle connections are closed if no descriptor is left
  telemetry::Metrics& metrics;
  telemetry::Log& log;
  std::string_view pseudonym;  ///< this proxy's name in Via
  const LinkFactory& links;
  OwnDials& own_dials;
  const Snapshot& snapshot;  ///< configuration of the request that the dial is for
  AddressOrder order{};
  Protocol protocol = Protocol::http1;               ///< what is offered in TLS
  std::vector<policy::UpstreamAddress> addresses{};  ///< result: the allowed addresses, if there are several
  /// Result: address of the established connection, else of the last dial. The port is 0 if there was no
  /// dial.
  tcp::endpoint dialled{};
  bool selected_http2 = false;  ///< result: over TLS, the upstream has chosen HTTP/2

  /// Returns a stream that is not connected yet.
  std::unique_ptr<Stream> open_stream() const {
    if (links.make_link) return std::make_unique<Stream>(tick, links.make_link(executor));
    return std::make_unique<Stream>(tick, tcp::socket(executor));
  }
};

}  // namespace reprise::net
