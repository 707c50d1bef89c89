#include "proxy/forward/attempt/lease.hpp"

#include <algorithm>
#include <span>

#include "proxy/net/dial/connect.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/policy/decision/decide.hpp"

namespace reprise::forward {
namespace {

// Returns false if the request body is known to exceed both the memory limit and the disk limit. Does not
// read the body.
bool can_be_held(const http::Framing& framing, const HoldLimits& limits) {
  return framing.kind != http::Framing::Kind::length ||
         framing.length <= std::max<std::uint64_t>(limits.memory, limits.disk);
}

// Returns the route through the parent proxy. A parent that gets the request in absolute-form is asked for
// the host in the request. Any other parent is asked for the upstream's host.
net::ParentRoute parent_route_of(const Incoming& in, const Route& route) {
  const bool to_parent = route.is_for_parent();
  const std::string_view asked = to_parent ? in.view.host : std::string_view(route.upstream->host);
  return {*route.upstream, asked, in.head, to_parent};
}

}  // namespace

std::optional<Instant> end_of_age(const net::Snapshot& snapshot, policy::Dice& dice) {
  const Duration max_age = snapshot.settings.pool.max_age;
  if (max_age == policy::no_limit) return std::nullopt;
  // The connections of one burst are not all closed at the same time.
  return net::Tick::now() + max_age * (800 + static_cast<Duration::rep>(dice.roll(400))) / 1000;
}

std::span<const policy::UpstreamAddress> addresses_to_avoid(const Outgoing& out) {
  if (out.resuming || out.tried.empty() || !out.has_untried_address()) return {};
  return out.tried;
}

net::Freshness freshness_of(const Outgoing& out, const HoldLimits& limits, const net::Upstream* before) {
  const Route& route = out.route;
  if (policy::is_repeatable(route.facts, *route.policy, can_be_held(out.in.head.framing, limits)))
    return net::Freshness::any;
  return before == route.carrier().get() ? net::Freshness::recent : net::Freshness::unused;
}

policy::AttemptReport report_of_unsent(const Outgoing& out, unsigned number,
                                       const policy::UpstreamAddress& address) {
  return {false, policy::Sent::nothing, out.body.replayable(), out.judge_now(), number, address};
}

net::Unread unread_of(net::Lease& connection) {
  return connection.reused() ? net::Unread::nothing : connection.end().unread();
}

Duration user_timeout_of(const Outgoing& out) {
  constexpr Duration most = std::chrono::seconds(60);
  constexpr std::uint64_t window = 65536;
  const http::Framing& framing = out.in.head.framing;
  const policy::RoutePolicy& policy = *out.route.policy;
  const bool long_body = framing.kind == http::Framing::Kind::chunked ||
                         (framing.kind == http::Framing::Kind::length && framing.length > window);
  if (long_body) return policy.idle_timeout;
  const auto deadline = policy.retry.deadline;
  return deadline && out.may_be_repeated() ? std::min(most, *deadline / 2) : policy::no_limit;
}

std::unique_ptr<net::UpstreamConnection> lease(Worker& worker, Outgoing& out, const policy::Start& start) {
  const Route& route = out.route;
  net::Upstream& carrier = *route.carrier();
  const auto& filter = route.snapshot->filter;
  // A connection to the parent proxy carries requests for every host. The address filter therefore judges the
  // host of each request, even on a pooled connection.
  const bool judged = &carrier != route.upstream.get();
  if (judged &&
      net::judge_parent_route(*filter, parent_route_of(out.in, route)) != net::AddressVerdict::allowed)
    return nullptr;
  auto connection = out.pin->take(carrier);
  if (connection != nullptr && connection->is_denied(filter)) connection.reset();
  if (connection == nullptr && !start.fresh) {
    do {
      connection = worker.pool.lease(carrier, out.freshness, out.recent, addresses_to_avoid(out));
    } while (connection != nullptr && connection->is_denied(filter));
  }
  if (connection != nullptr) connection->end().limit_unacknowledged(user_timeout_of(out));
  return connection;
}

Task<net::Dialled> dial_for(OneAttempt& one, DialRequest& dial, policy::UpstreamAddress& address) {
  Outgoing& out = one.out;
  const Route& route = out.route;
  net::Upstream& carrier = *route.carrier();
  net::Dialer dialer = one.worker.dialer(*route.snapshot);
  dialer.order = {carrier.dials++, out.tried, out.resuming};
  dialer.protocol = dial.protocol;
  net::Dialled dialled =
      co_await net::connect(dialer, parent_route_of(out.in, route), dial.time, one.cancel, dial.early);
  address = net::as_address(dialer.dialled);
  out.note_address(address);
  carrier.addresses = std::move(dialer.addresses);
  dial.selected_http2 = dialer.selected_http2;
  co_return dialled;
}

void hold_connection(OneAttempt& one, std::unique_ptr<net::Stream> stream,
                     const policy::UpstreamAddress& address) {
  Worker& worker = one.worker;
  const Route& route = one.out.route;
  auto connection =
      std::make_unique<net::UpstreamConnection>(worker.pool, route.carrier(), std::move(stream));
  connection->set_address(address, route.snapshot->filter);
  if (const auto expires = end_of_age(*route.snapshot, worker.dice)) connection->expire_at(*expires);
  connection->end().limit_unacknowledged(user_timeout_of(one.out));
  one.response.connection = net::Lease(std::move(connection));
}

Task<std::optional<policy::Failed>> connect_for(OneAttempt& one, std::optional<Instant> deadline,
                                                policy::UpstreamAddress& address) {
  const net::ConnectTime time(one.out.route.policy->connect_timeout, deadline);
  DialRequest dial{time, net::Protocol::http1, one.response.buffer};
  net::Dialled dialled = co_await dial_for(one, dial, address);
  if (const auto* failed = std::get_if<policy::Failed>(&dialled)) co_return *failed;
  hold_connection(one, std::get<std::unique_ptr<net::Stream>>(std::move(dialled)), address);
  co_return std::nullopt;
}

}  // namespace reprise::forward
