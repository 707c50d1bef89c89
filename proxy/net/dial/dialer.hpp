// What a dial works with: parts of its io thread, and the configuration of its request.
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
#include "proxy/net/upstream/pool.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// What connections to upstreams are made of, if not of sockets and OpenSSL: simulations bring their own.
struct LinkFactory {
  /// Empty: sockets.
  std::function<std::unique_ptr<Link>(const asio::any_io_executor&)> make_link;
  /// What TLS is to such a link: of the link, and of who the upstream has to be. Empty: OpenSSL.
  std::function<std::unique_ptr<SecureLink>(Carrier, std::string_view name)> make_secure;
  /// Called before each dial of a race between several addresses. `order`: the addresses of the race;
  /// `which`: the place in it of the address that is dialled now. Empty: nobody listens.
  std::function<void(std::span<const tcp::endpoint> order, std::size_t which)> race_dials;
};

/// Borrows everything, and outlives the dial; used on its io thread only.
struct Dialer {
  asio::any_io_executor executor;
  Tick& tick;
  Resolver& resolver;
  Pool& pool;  ///< whose idle connections make room where no descriptor is left
  telemetry::Metrics& metrics;
  telemetry::Log& log;
  std::string_view pseudonym;  ///< our name in Via
  const LinkFactory& links;
  OwnDials& own_dials;
  const Snapshot& snapshot;  ///< of the request that it is for
  AddressOrder order{};
  std::vector<policy::UpstreamAddress> addresses{};  ///< out: those that may be dialled, if there are several
  tcp::endpoint dialled{};  ///< out: of the connection that stands, or the last that was tried; else port 0

  /// A connection to be.
  std::unique_ptr<Stream> open_stream() const {
    if (links.make_link) return std::make_unique<Stream>(tick, links.make_link(executor));
    return std::make_unique<Stream>(tick, tcp::socket(executor));
  }
};

}  // namespace reprise::net
