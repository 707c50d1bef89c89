// The network of a story: names, addresses, and what becomes of dialling them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/resolve/resolver.hpp"
#include "tests/simulation/canary.hpp"
#include "tests/simulation/dials.hpp"
#include "tests/simulation/name_book.hpp"
#include "tests/simulation/purpose.hpp"
#include "tests/simulation/tunnel.hpp"
#include "tests/simulation/upstream.hpp"

namespace reprise::simulation {

class Network final : public Dials {
 public:
  Network(Seed seed, World& world, Faults& faults, Book& book, Canary canary);

  /// What the resolver is told now.
  net::Found query(const std::string& name);
  /// In how long a question that comes now is to be answered.
  Duration patience_of_names();

  Result dial(const tcp::endpoint&) override;
  /// The proxy is about to dial that one of these, which it dials in this order.
  void race_dials(std::span<const tcp::endpoint> order, std::size_t which) {
    dialled_.race_dials(order, which);
  }
  std::shared_ptr<Wire> connected(const tcp::endpoint&) override;

  /// From now on every dial is refused, where that fault is played.
  void refuse_all() { refuses_all_ = true; }
  /// How long the proxy waits for one address.
  void set_connect_timeout(Duration limit) { dialled_.set_connect_timeout(limit); }
  /// Everything has to leave by the parent proxy at that address.
  void set_parent(const std::string& address);
  /// What the server of the story's tunnel does with each connection.
  void serve_tunnel(const TunnelPlan& plan) { tunnel_ = plan; }
  const NameBook& names() const { return names_; }
  /// Its end of the tunnel that was opened last; null if none was.
  const TunnelEnd* tunnel_server() const { return tunnels_.empty() ? nullptr : tunnels_.back().get(); }

 private:
  std::vector<asio::ip::address> several(Chance chance);
  std::vector<asio::ip::address> found(const std::string& name);
  Result fate(const tcp::endpoint&);

  const Seed seed_;
  World& world_;
  Faults& faults_;
  Book& book_;
  const Canary canary_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  DialBook dialled_;
  NameBook names_;
  std::map<std::string, net::Found> first_responses_;  ///< for a canary
  std::optional<asio::ip::address> parent_;
  TunnelPlan tunnel_;
  std::vector<std::unique_ptr<TunnelEnd>> tunnels_;
  unsigned dials_ = 0;
  bool refuses_all_ = false;
  unsigned queries_ = 0;
  unsigned queries_with_several_ = 0;
  unsigned connections_ = 0;
};

/// Under the default of `security.deny`.
inline constexpr std::string_view denied_address = "169.254.169.254";

}  // namespace reprise::simulation
