#include "proxy/forward/attempt/lease.hpp"

#include <algorithm>
#include <span>

#include "proxy/net/dial/connect.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/policy/decision/decide.hpp"

namespace reprise::forward {
namespace {

// As far as the head tells.
bool can_be_held(const Request& request, const HoldLimits& limits) {
  const http::Framing& framing = request.head.framing;
  return framing.kind != http::Framing::Kind::length ||
         framing.length <= std::max<std::uint64_t>(limits.memory, limits.disk);
}

// The age at which a connection ends: those of one burst not all at once.
Duration age_limit(Duration max_age, policy::Dice& dice) {
  return max_age * (800 + static_cast<Duration::rep>(dice.roll(400))) / 1000;
}

bool is_among(std::span<const policy::UpstreamAddress> all, const policy::UpstreamAddress& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A retry goes where the request has not been, if its name has such an address (row N1). The rest of a
// download comes from where it began: another replica may call the same bytes another version.
bool has_untried_address(const Request& request) {
  const auto& known = carrier_of(request)->addresses;
  return !request.resuming && !request.tried.empty() &&
         std::any_of(known.begin(), known.end(),
                     [&](const auto& each) { return !is_among(request.tried, each); });
}

}  // namespace

net::Freshness freshness_of(const Request& request, const HoldLimits& limits, const net::Upstream* before) {
  if (policy::is_repeatable(request.facts, *request.policy, can_be_held(request, limits)))
    return net::Freshness::any;
  return before == carrier_of(request).get() ? net::Freshness::recent : net::Freshness::unused;
}

void note_address(Request& request, const policy::UpstreamAddress& address) {
  constexpr std::size_t most = 16;  // as many as a name may have (row I13)
  if (address.known() && request.tried.size() < most && !is_among(request.tried, address))
    request.tried.push_back(address);
}

void note_connection(Request& request, unsigned number, bool copy,
                     const net::UpstreamConnection& connection) {
  // Of two at once the second may be out first.
  if (number > 1 && !copy) request.recent = {};
  request.recent[number % request.recent.size()] = connection.number();
  note_address(request, connection.address());
}

// In absolute-form the parent is asked for the host that the request names.
net::ParentRoute route_of(const Request& request) {
  const bool to_parent = is_for_parent(request);
  const std::string_view asked = to_parent ? request.view.host : std::string_view(request.upstream->host);
  return {*request.upstream, asked, request.head, to_parent};
}

policy::AttemptReport report_of_unsent(const Request& request, unsigned number,
                                       const policy::UpstreamAddress& address) {
  return {false, policy::Sent::nothing, request.body.replayable(), judge_now(request), number, address};
}

net::Unread unread_of(net::UpstreamConnection& connection) {
  return connection.reused() ? net::Unread::nothing : connection.stream().unread();
}

Duration user_timeout_of(const Request& request) {
  constexpr Duration most = std::chrono::seconds(60);
  constexpr std::uint64_t window = 65536;
  const http::Framing& framing = request.head.framing;
  const bool long_body = framing.kind == http::Framing::Kind::chunked ||
                         (framing.kind == http::Framing::Kind::length && framing.length > window);
  if (long_body) return request.policy->idle_timeout;
  const auto deadline = request.policy->retry.deadline;
  return deadline && may_be_repeated(request) ? std::min(most, *deadline / 2) : policy::no_limit;
}

std::unique_ptr<net::UpstreamConnection> lease(Worker& worker, Request& request, const policy::Start& start) {
  net::Upstream& carrier = *carrier_of(request);
  const auto& filter = request.snapshot->filter;
  // A connection to the parent proxy carries requests for every host: each is judged as if it were dialled.
  const bool judged = &carrier != request.upstream.get();
  if (judged && net::judge_parent_route(*filter, route_of(request)) != net::AddressVerdict::allowed)
    return nullptr;
  auto connection = request.pin->take(carrier);
  if (connection != nullptr && connection->is_denied(filter)) connection.reset();
  if (connection == nullptr && !start.fresh) {
    std::span<const policy::UpstreamAddress> not_to;
    if (has_untried_address(request)) not_to = request.tried;
    do {
      connection = worker.pool.lease(carrier, request.freshness, request.recent, not_to);
    } while (connection != nullptr && connection->is_denied(filter));
  }
  if (connection != nullptr) connection->stream().set_user_timeout(user_timeout_of(request));
  return connection;
}

Task<std::optional<policy::Failed>> connect_for(OneAttempt& one, std::optional<Instant> deadline,
                                                policy::UpstreamAddress& address) {
  Worker& worker = one.worker;
  Request& request = one.request;
  Response& response = one.response;
  const net::ParentRoute route = route_of(request);
  net::Upstream& carrier = *carrier_of(request);
  net::Dialer dialer = worker.dialer(*request.snapshot);
  dialer.order = {carrier.dials++, request.tried, request.resuming};
  net::Dialled dialled =
      co_await net::connect(dialer, route, net::ConnectTime(request.policy->connect_timeout, deadline),
                            one.cancel, response.buffer);
  address = net::as_address(dialer.dialled);
  note_address(request, address);
  carrier.addresses = std::move(dialer.addresses);
  if (const auto* failed = std::get_if<policy::Failed>(&dialled)) co_return *failed;
  response.connection = std::make_unique<net::UpstreamConnection>(
      worker.pool, carrier_of(request), std::get<std::unique_ptr<net::Stream>>(std::move(dialled)));
  response.connection->set_address(address, request.snapshot->filter);
  const Duration max_age = request.snapshot->settings.pool.max_age;
  if (max_age != policy::no_limit)
    response.connection->expire_at(net::Tick::now() + age_limit(max_age, worker.dice));
  response.connection->stream().set_user_timeout(user_timeout_of(request));
  co_return std::nullopt;
}

}  // namespace reprise::forward
