// The network of a story: name lookups, addresses, and the outcome of dials.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/resolve/resolver.hpp"
#include "tests/simulation/canary.hpp"
#include "tests/simulation/dials.hpp"
#include "tests/simulation/http2_upstream.hpp"
#include "tests/simulation/name_book.hpp"
#include "tests/simulation/purpose.hpp"
#include "tests/simulation/tunnel.hpp"
#include "tests/simulation/upstream.hpp"

namespace reprise::simulation {

class Network final : public Dials {
 public:
  Network(Seed seed, World& world, Faults& faults, Book& book, Canary canary);

  /// Returns the current lookup result for the name.
  net::Found query(const std::string& name);
  /// Returns how long a lookup that starts now takes.
  Duration patience_of_names();

  Result dial(const tcp::endpoint&) override;
  void failed(const tcp::endpoint& endpoint) override { names_.failed(endpoint.address()); }
  /// Judges the dial of `order[which]`, which the proxy is about to start: this dial must be due now.
  /// `order`: all addresses of the race, in the order of their dials.
  void race_dials(std::span<const tcp::endpoint> order, std::size_t which) {
    dialled_.race_dials(order, which);
  }
  std::shared_ptr<Wire> connected(const tcp::endpoint&) override;

  /// Makes all later dials fail as refused, if the story plays that fault.
  void refuse_all() { refuses_all_ = true; }
  /// Sets the proxy's time limit for dialling one address.
  void set_connect_timeout(Duration limit) { dialled_.set_connect_timeout(limit); }
  /// Sets the parent proxy through which all traffic must leave.
  void set_parent(const std::string& address);
  /// Makes the upstreams speak HTTP/2. Precondition: `terms` outlives the network.
  void speak_http2(const Http2Terms& terms) { http2_ = &terms; }
  /// Sets what the server of the story's tunnel does on each connection.
  void serve_tunnel(const TunnelPlan& plan) { tunnel_ = plan; }
  const NameBook& names() const { return names_; }
  /// Returns the server's end of the newest tunnel; null if there is none.
  const TunnelEnd* tunnel_server() const { return tunnels_.empty() ? nullptr : tunnels_.back().get(); }

 private:
  std::vector<asio::ip::address> several(Chance chance);
  std::vector<asio::ip::address> found(const std::string& name);
  Result fate(const tcp::endpoint&);
  void add_http2(Chance chance, const std::shared_ptr<Wire>& wire);

  const Seed seed_;
  World& world_;
  Faults& faults_;
  Book& book_;
  const Canary canary_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  std::vector<std::unique_ptr<Http2Upstream>> http2_upstreams_;
  const Http2Terms* http2_ = nullptr;
  DialBook dialled_;
  NameBook names_;
  std::map<std::string, net::Found> first_responses_;  ///< for Canary::old_name
  std::optional<asio::ip::address> parent_;
  TunnelPlan tunnel_;
  std::vector<std::unique_ptr<TunnelEnd>> tunnels_;
  unsigned dials_ = 0;
  bool refuses_all_ = false;
  unsigned queries_ = 0;
  unsigned queries_with_several_ = 0;
  unsigned connections_ = 0;
};

/// An address that the default of `security.deny` covers.
inline constexpr std::string_view denied_address = "169.254.169.254";

}  // namespace reprise::simulation
