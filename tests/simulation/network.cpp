#include "tests/simulation/network.hpp"

#include <cerrno>

namespace reprise::simulation {

using asio::ip::address;
using asio::ip::make_address;

Network::Network(Seed seed, World& world, Faults& faults, Book& book, Canary canary)
    : seed_(seed),
      world_(world),
      faults_(faults),
      book_(book),
      canary_(canary),
      dialled_(world, book),
      names_(world, book) {}

// Returns 2 to 6 addresses, IPv4 and IPv6, and in one case of three a denied address before them. Each lookup
// gets new addresses, except the denied one.
std::vector<address> Network::several(Chance chance) {
  std::vector<address> found;
  const std::uint64_t count = chance.between(2, 6);
  // Unlimited attempts can need more lookups than an octet can count.
  const std::uint64_t asked = ++queries_with_several_;
  const std::string which = std::to_string(asked);
  const std::string net = "198." + std::to_string(18 + asked / 250) + "." + std::to_string(asked % 250) + ".";
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool v6 = chance.one_in(2);
    const std::string last = std::to_string(i + 1);
    found.push_back(make_address(v6 ? "2001:db8::" + which + ":" + last : net + last));
  }
  if (chance.one_in(3)) found.insert(found.begin(), make_address(denied_address));
  return found;
}

void Network::set_parent(const std::string& address) { parent_ = make_address(address); }

net::Found Network::query(const std::string& name) {
  if (parent_) book_.broken("names are the parent proxy's to resolve");
  Chance chance(seed_, Purpose::names, 3000 + queries_);
  net::Found response{found(name)};
  if (chance.one_in(3)) response.keep = std::chrono::seconds(chance.between(0, 20));
  if (canary_ == Canary::old_name && !response.list.empty())
    return first_responses_.try_emplace(name, response).first->second;
  return response;
}

// Returns addresses that no other lookup returned, so that a dial identifies the lookup it uses.
std::vector<address> Network::found(const std::string& name) {
  Chance chance(seed_, Purpose::names, ++queries_);
  const bool fails = faults_.plays(Fault::resolve_fails, chance.one_in(3));
  const bool rebinds = !fails && faults_.plays(Fault::resolve_rebinds, chance.one_in(5));
  if (fails || rebinds) {
    names_.responded(name, {});
    return fails ? std::vector<address>() : std::vector<address>{make_address(denied_address)};
  }
  const address home = names_.fresh();
  if (faults_.plays(Fault::resolve_mixed_with_denied, chance.one_in(3))) {
    names_.responded(name, home);
    return {make_address(denied_address), home, make_address("fe80::1")};
  }
  if (faults_.plays(Fault::resolve_several, chance.one_in(2))) {
    names_.responded(name, {});
    return dialled_.expect(several(Chance(seed_, Purpose::names, 2000 + queries_)));
  }
  names_.responded(name, home);
  return {home};
}

Duration Network::patience_of_names() {
  Chance chance(seed_, Purpose::names, 1000 + queries_);
  const Duration slow = chance.milliseconds(100, 8000);
  return faults_.plays(Fault::resolve_slow, chance.one_in(3)) ? slow : Duration::zero();
}

Dials::Result Network::dial(const tcp::endpoint& endpoint) {
  const Result result = fate(endpoint);
  dialled_.begin(endpoint.address(), result);
  names_.dialled(endpoint.address(), result);
  return result;
}

Dials::Result Network::fate(const tcp::endpoint& endpoint) {
  if (endpoint.address() == make_address(denied_address) || endpoint.address() == make_address("fe80::1"))
    book_.broken("nothing is sent to a denied address");
  if (parent_ && endpoint.address() != *parent_) book_.broken("everything leaves by the parent proxy");
  Chance chance(seed_, Purpose::dials, ++dials_);
  const auto failing = [](int error) {
    return Result{ErrorCode(error, boost::system::system_category()), {}, false};
  };
  const Duration slow = chance.milliseconds(10, 3000);
  if (faults_.plays(Fault::name_moves, chance.one_in(6))) names_.moves(endpoint.address());
  const bool may_move = endpoint.address().is_v4() && endpoint.address().to_v4().to_uint() >> 24U == 10;
  if (may_move && names_.has_moved(endpoint.address())) return failing(ECONNREFUSED);
  if (faults_.plays(Fault::connect_refused, chance.one_in(refuses_all_ ? 1 : 8)))
    return failing(ECONNREFUSED);
  if (faults_.plays(Fault::connect_unreachable, chance.one_in(10))) return failing(EHOSTUNREACH);
  if (faults_.plays(Fault::no_local_port, chance.one_in(12))) return failing(EADDRNOTAVAIL);
  if (faults_.plays(Fault::no_descriptor, chance.one_in(12))) return failing(EMFILE);
  if (faults_.plays(Fault::connect_silent, chance.one_in(12))) return {{}, {}, true};
  if (faults_.plays(Fault::connect_slow, chance.one_in(8))) return {{}, slow, false};
  return {{}, std::chrono::microseconds(chance.between(20, 900)), false};
}

std::shared_ptr<Wire> Network::connected(const tcp::endpoint& endpoint) {
  Chance chance(seed_, Purpose::dials, 100'000 + ++connections_);
  auto wire = std::make_shared<Wire>(world_, faults_, Chance(seed_, Purpose::pieces, connections_));
  // The proxy must use other connections at once. On a connection for a tunnel or for TLS, it may have no
  // byte to send at first.
  if (endpoint.port() != tunnel_port && endpoint.port() != 443) dialled_.connected(wire);
  if (endpoint.port() == tunnel_port && tunnel_.inside) {
    // The first dial is for the CONNECT. Later dials are for the request inside it.
    book_.find(tunnel_id)->arrivals = 1;
    if (http2_ != nullptr) {
      add_http2(std::move(chance), wire);
      return wire;
    }
    upstreams_.push_back(std::make_unique<Upstream>(seed_, world_, faults_, book_, wire, canary_));
    if (faults_.plays(Fault::reset_after_accept, chance.one_in(12))) upstreams_.back()->reset();
    return wire;
  }
  if (endpoint.port() == tunnel_port) {
    ++book_.find(tunnel_id)->arrivals;
    tunnels_.push_back(std::make_unique<TunnelEnd>(world_, book_, tunnel_id, tunnel_.server, tunnel_.client,
                                                   wire, Chance(seed_, Purpose::pieces, 5000 + connections_),
                                                   11, 10));
    world_.soon([server = tunnels_.back().get()] { server->look(); });
    return wire;
  }
  const Duration dies_after = chance.milliseconds(0, 4000);
  if (faults_.plays(Fault::silent_death, chance.one_in(12))) {
    world_.after(dies_after, [this, wire] {
      if (!faults_.over()) wire->vanish();
    });
  }
  if (canary_ == Canary::deaf_kernel) wire->deafen();
  if (http2_ != nullptr) {
    add_http2(std::move(chance), wire);
    return wire;
  }
  upstreams_.push_back(std::make_unique<Upstream>(seed_, world_, faults_, book_, wire, canary_));
  if (parent_) upstreams_.back()->stand_for_all();
  if (faults_.plays(Fault::reset_after_accept, chance.one_in(12))) {
    upstreams_.back()->reset();
  } else if (faults_.plays(Fault::response_before_request, chance.one_in(14))) {
    upstreams_.back()->speak_first("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Story: 0\r\n\r\nforged");
  }
  return wire;
}

void Network::add_http2(Chance chance, const std::shared_ptr<Wire>& wire) {
  http2_upstreams_.push_back(
      std::make_unique<Http2Upstream>(seed_, world_, faults_, book_, wire, canary_, *http2_, connections_));
  Http2Upstream& upstream = *http2_upstreams_.back();
  if (canary_ == Canary::foreign_death) {
    upstream.on_death = [this, &upstream] {
      for (const auto& other : http2_upstreams_) {
        if (other.get() != &upstream && other->has_open_streams()) return other->die_unseen();
      }
    };
  }
  if (faults_.plays(Fault::reset_after_accept, chance.one_in(12))) upstream.reset();
}

}  // namespace reprise::simulation
