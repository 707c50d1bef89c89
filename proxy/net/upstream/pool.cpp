#include "proxy/net/upstream/pool.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/net/upstream/http2_set.hpp"
#include "proxy/net/upstream/pin.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::net {
namespace {

// Maximum idle time of a connection if `pool.idle` other connections are idle already.
constexpr Duration spare_life = std::chrono::seconds(1);

void append_number(std::size_t number, std::string& text) {
  std::array<char, 20> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_lower(std::string_view name, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + name.size());
  std::transform(name.begin(), name.end(), text.begin() + static_cast<std::ptrdiff_t>(before),
                 policy::to_lower);
}

void write_account(std::string_view host, std::uint16_t port, std::string& key) {
  key.clear();
  append_lower(policy::without_last_dot(host), key);
  key.push_back(':');
  append_number(port, key);
}

// Appends the TLS peer to a key, after a space. No host contains a space, so the key of a TLS connection
// never equals that of a plaintext connection.
void append_peer(TlsPeer peer, std::string& key) {
  key.append(" tls ");
  append_number(peer.client->number(), key);
  key.push_back(' ');
  append_lower(policy::without_last_dot(peer.name), key);
}

}  // namespace

UpstreamConnection::UpstreamConnection(Pool& pool, std::shared_ptr<Upstream> upstream,
                                       std::unique_ptr<Stream> stream)
    : pool_(pool), upstream_(std::move(upstream)), stream_(std::move(stream)), number_(++pool.connections_) {
  pool_.metrics_.upstream_changed(telemetry::UpstreamState::active, 1);
}

UpstreamConnection::~UpstreamConnection() {
  pool_.metrics_.upstream_changed(idle_ ? telemetry::UpstreamState::idle : telemetry::UpstreamState::active,
                                  -1);
}

bool is_denied(const AddressFilter& filter, const Upstream& upstream,
               const policy::UpstreamAddress& address) {
  const bool parent_resolves = upstream.parent != nullptr;
  return (address.known() && filter.judge(as_endpoint(address)) != AddressVerdict::allowed) ||
         (parent_resolves &&
          filter.judge_unresolved(upstream.host, upstream.port) != AddressVerdict::allowed);
}

// Returns true if the filter denies the address. Stores the last filter that allowed the address, so that the
// address is judged again only after a reload.
bool UpstreamConnection::is_denied(const std::shared_ptr<const AddressFilter>& filter) {
  if (filter == allowed_by_) return false;
  if (net::is_denied(*filter, *upstream_, address_)) return true;
  allowed_by_ = filter;
  return false;
}

void UpstreamConnection::time_is_up() { pool_.discard(*this); }

Pool::Pool(Tick& tick, const config::Pool& settings, std::size_t most_upstreams, BudgetTable& budgets,
           HostGuards& host_guards, telemetry::Metrics& metrics)
    : tick_(tick),
      settings_(settings),
      most_upstreams_(most_upstreams),
      budgets_(budgets),
      host_guards_(host_guards),
      metrics_(metrics) {}

Pool::~Pool() { close(); }

std::shared_ptr<Upstream> Pool::upstream(std::string_view host, std::uint16_t port, TlsPeer peer) {
  write_account(host, port, scratch_);
  const std::size_t account_bytes = scratch_.size();
  // A host has the same budget with and without a final dot, but separate connections: for the name with the
  // dot, the resolver may find other addresses.
  if (host.ends_with('.')) scratch_.push_back('.');
  if (peer.client != nullptr) append_peer(peer, scratch_);
  if (const auto known = upstreams_.find(scratch_); known != upstreams_.end()) {
    if (known->second != order_.begin()) order_.splice(order_.begin(), order_, known->second);
    return *known->second;
  }
  auto fresh = add_upstream(host, port, account_bytes);
  fresh->cells = &metrics_.upstream(fresh->account);
  prove(*fresh, peer);
  return fresh;
}

void Pool::prove(Upstream& upstream, TlsPeer peer) {
  if (peer.client == nullptr) return;
  upstream.tls = peer.client;
  upstream.tls_kept = peer.client->weak_from_this().lock();
  upstream.server_name = policy::lower(policy::without_last_dot(peer.name));
  upstream.ticket = std::make_shared<TlsTicket>();
}

void Pool::go_through(std::string_view host, std::uint16_t port, TlsPeer peer,
                      const std::vector<std::string>& except) {
  const bool is_the_same = parent_ != nullptr && parent_->host == policy::lower(host) &&
                           parent_->port == port && parent_->tls == peer.client &&
                           exceptions_.texts() == except;
  if (is_the_same) return;
  evict_all();
  exceptions_ = ParentExceptions(except);
  write_account(host, port, scratch_);
  // Adds a prefix with a space to the key. No host contains a space, so the key of a parent proxy differs
  // from that of an upstream with the same host:port.
  scratch_.insert(0, "parent ");
  parent_ = add_upstream(host, port, scratch_.size());
  prove(*parent_, peer);
}

void Pool::go_directly() {
  if (parent_ == nullptr) return;
  evict_all();
}

// Precondition: `scratch_` holds the key.
std::shared_ptr<Upstream> Pool::add_upstream(std::string_view host, std::uint16_t port,
                                             std::size_t account_bytes) {
  if (upstreams_.size() >= most_upstreams_) evict_oldest();
  auto fresh = std::make_shared<Upstream>();
  fresh->key = scratch_;
  fresh->account = scratch_.substr(0, account_bytes);
  fresh->host = policy::lower(host);
  fresh->port = port;
  if (parent_ != nullptr && !exceptions_.contains(fresh->host)) fresh->parent = parent_;
  order_.push_front(fresh);
  upstreams_.emplace(order_.front()->key, order_.begin());
  return fresh;
}

Http2Set& Pool::http2(Upstream& upstream) {
  if (upstream.http2 == nullptr) upstream.http2 = std::make_shared<Http2Set>(*this, upstream);
  return *upstream.http2;
}

policy::Budget* Pool::budget(Upstream& upstream, const policy::BudgetPolicy& policy, BudgetKind budget_kind) {
  for (const auto& known : upstream.budgets) {
    if (known.budget_kind == budget_kind && known.policy == policy) return known.budget.get();
  }
  upstream.budgets.push_back({policy, budget_kind, budgets_.account(upstream.account, policy, budget_kind)});
  return upstream.budgets.back().budget.get();
}

policy::Circuit* Pool::circuit(Upstream& upstream, const policy::CircuitPolicy& policy) {
  for (const auto& [settings, circuit] : upstream.circuits) {
    if (settings == policy) return circuit.get();
  }
  upstream.circuits.emplace_back(policy, host_guards_.circuit(upstream.account, policy));
  return upstream.circuits.back().second.get();
}

policy::HostPause* Pool::pause(Upstream& upstream) {
  if (upstream.pause == nullptr) upstream.pause = host_guards_.pause(upstream.account);
  return upstream.pause.get();
}

// Evicts the least recently used upstream. Skips upstreams in use, because their connections must be able to
// return.
void Pool::evict_oldest() {
  for (auto entry = order_.rbegin(); entry != order_.rend(); ++entry) {
    const std::shared_ptr<Upstream>& oldest = *entry;
    if (static_cast<std::size_t>(oldest.use_count()) > 1 + oldest->idle.size()) continue;
    oldest->idle.clear();
    if (oldest->http2 != nullptr) oldest->http2->retire_all();
    budgets_.left(oldest->account);
    host_guards_.left(oldest->account);
    upstreams_.erase(oldest->key);
    order_.erase(std::next(entry).base());
    return;
  }
}

// Evicts all upstreams. Connections in use continue, but are closed when they are returned.
void Pool::evict_all() {
  for (const std::shared_ptr<Upstream>& upstream : order_) {
    upstream->idle.clear();
    upstream->evicted = true;
    if (upstream->http2 != nullptr) upstream->http2->retire_all();
    budgets_.left(upstream->account);
    host_guards_.left(upstream->account);
  }
  upstreams_.clear();
  order_.clear();
  parent_.reset();
}

std::unique_ptr<UpstreamConnection> Pool::lease(Upstream& upstream, Freshness freshness,
                                                const RecentConnections& recent,
                                                std::span<const policy::UpstreamAddress> not_to) {
  auto& idle = upstream.idle;
  const bool timed = freshness != Freshness::any || upstream.idle_life.known();
  const Instant now = timed ? Tick::now() : Instant{};
  if (upstream.idle_life.known()) close_outlived(upstream, now);
  for (std::size_t place = idle.size(); place-- > 0;) {
    const UpstreamConnection& candidate = *idle[place];
    // The loop goes from the most recently used connection to the oldest. If a connection is too old, all
    // further connections in the loop are too old as well.
    if (freshness != Freshness::any && now - candidate.idle_since_ > recent_limit) break;
    if (freshness == Freshness::unused && candidate.reused_) continue;
    if (std::find(recent.begin(), recent.end(), candidate.number_) != recent.end()) continue;
    if (std::find(not_to.begin(), not_to.end(), candidate.address_) != not_to.end()) continue;
    auto connection = take(upstream, place);
    // An idle connection is usable only without FIN, error or unsolicited bytes (rows B11, F6).
    const Unread unread = connection->stream().unread();
    if (unread == Unread::nothing) return connection;
    // Bytes on a connection that has carried no request may be the SETTINGS of HTTP/2.
    if (unread == Unread::closed || connection->reused_) ended_after_idle(*connection, Tick::now());
    break;
  }
  // Closes the oldest idle connection, because the connection that is dialled now will become idle too.
  // Otherwise idle connections would pile up while only non-idempotent requests arrive, because these never
  // use an older connection.
  if (freshness == Freshness::unused && !idle.empty() && idle.size() >= settings_.idle) idle.pop_front();
  return nullptr;
}

std::unique_ptr<UpstreamConnection> Pool::lease_unused(Upstream& upstream, const RecentConnections& recent) {
  const auto& idle = upstream.idle;
  for (std::size_t place = idle.size(); place-- > 0;) {
    const UpstreamConnection& candidate = *idle[place];
    if (Tick::now() - candidate.idle_since_ > recent_limit) break;
    if (candidate.reused_ || std::find(recent.begin(), recent.end(), candidate.number_) != recent.end())
      continue;
    auto connection = take(upstream, place);
    if (connection->stream().unread() != Unread::closed) return connection;
  }
  return nullptr;
}

std::unique_ptr<UpstreamConnection> Pool::take(Upstream& upstream, std::size_t place) {
  const auto entry = upstream.idle.begin() + static_cast<std::ptrdiff_t>(place);
  auto connection = std::move(*entry);
  upstream.idle.erase(entry);
  Tick::disarm(*connection);
  connection->idle_ = false;
  metrics_.upstream_changed(telemetry::UpstreamState::idle, -1);
  metrics_.upstream_changed(telemetry::UpstreamState::active, 1);
  return connection;
}

// Learns from a closed connection how long the upstream keeps idle connections. Then closes all connections
// that have been idle for longer than that.
void Pool::ended_after_idle(const UpstreamConnection& connection, Instant end) {
  Upstream& upstream = *connection.upstream_;
  const Instant now = Tick::now();
  upstream.idle_life.ended_after(end - connection.idle_since_, now);
  close_outlived(upstream, now);
}

void Pool::close_outlived(Upstream& upstream, Instant now) {
  const auto limit = upstream.idle_life.limit(now);
  if (!limit) return;
  auto& idle = upstream.idle;
  while (!idle.empty() && now - idle.front()->idle_since_ > *limit) idle.pop_front();
}

void Pool::give_back(std::unique_ptr<UpstreamConnection> connection) {
  connection->reused_ = true;
  make_idle(std::move(connection));
}

void Pool::give_unused(std::unique_ptr<UpstreamConnection> connection) { make_idle(std::move(connection)); }

void Pool::make_idle(std::unique_ptr<UpstreamConnection> connection) {
  if (closing_ || connection->upstream_->evicted) return;
  connection->stream().end_limit();
  connection->stream().reset_sent();
  if (Pin* const pin = connection->pin_) return pin->make_idle(std::move(connection));
  const Instant now = Tick::now();
  const Duration life = std::min(settings_.idle_timeout, connection->idle_life_);
  const Instant expires = connection->expires_.value_or(policy::no_end);
  if (settings_.idle == 0 || life <= Duration::zero() || expires <= now) return;
  Upstream& upstream = *connection->upstream_;
  // Under load, more connections than `pool.idle` are idle for a short time between two requests. The pool
  // keeps the additional connections for a second, so that they need not be dialled again.
  const bool spare = upstream.idle.size() >= settings_.idle;
  connection->idle_ = true;
  connection->idle_since_ = now;
  if (upstream.idle_life.known()) close_outlived(upstream, connection->idle_since_);
  metrics_.upstream_changed(telemetry::UpstreamState::active, -1);
  metrics_.upstream_changed(telemetry::UpstreamState::idle, 1);
  const Duration longest = spare ? std::min(life, spare_life) : life;
  // Uses arm_until, because the remaining age differs for each connection. With `arm`, the tick would need a
  // separate list for each duration.
  if (expires - now < longest) {
    tick_.arm_until(*connection, expires);
  } else {
    tick_.arm(*connection, longest);
  }
  upstream.idle.push_back(std::move(connection));
}

void Pool::discard(UpstreamConnection& connection) {
  auto& idle = connection.upstream_->idle;
  const auto place =
      std::find_if(idle.begin(), idle.end(), [&](const auto& held) { return held.get() == &connection; });
  if (place == idle.end()) return;
  const std::unique_ptr<UpstreamConnection> last_use = std::move(*place);
  idle.erase(place);
}

bool Pool::make_room() {
  for (auto entry = order_.rbegin(); entry != order_.rend(); ++entry) {
    auto& idle = (*entry)->idle;
    if (!idle.empty()) {
      idle.pop_front();
      return true;
    }
    if ((*entry)->http2 != nullptr && (*entry)->http2->make_room()) return true;
  }
  return false;
}

void Pool::close() {
  closing_ = true;
  for (const auto& upstream : order_) {
    upstream->idle.clear();
    if (upstream->http2 != nullptr) upstream->http2->retire_all();
  }
}

}  // namespace reprise::net
