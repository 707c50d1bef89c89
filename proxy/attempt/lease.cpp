#include "proxy/attempt/lease.hpp"

#include <algorithm>

#include "proxy/dial/connect.hpp"
#include "proxy/policy/decide.hpp"

namespace reprise::net {
namespace {

// As far as the head tells.
bool can_be_held(const Request& request, const HoldLimits& limits) {
  const http::Framing& framing = request.head.framing;
  return framing.kind != http::Framing::Kind::length ||
         framing.length <= std::max<std::uint64_t>(limits.memory, limits.disk);
}

policy::UpstreamAddress as_address(const tcp::endpoint& endpoint) {
  policy::UpstreamAddress address;
  if (endpoint.port() == 0) return address;
  address.port = endpoint.port();
  const auto put = [&](policy::UpstreamAddress::Family family, const auto& bytes) {
    address.family = family;
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  };
  if (endpoint.address().is_v4()) {
    put(policy::UpstreamAddress::Family::v4, endpoint.address().to_v4().to_bytes());
  } else {
    put(policy::UpstreamAddress::Family::v6, endpoint.address().to_v6().to_bytes());
  }
  return address;
}

}  // namespace

Freshness freshness_of(const Request& request, const HoldLimits& limits, const Upstream* before) {
  if (policy::is_repeatable(request.facts, *request.policy, can_be_held(request, limits)))
    return Freshness::any;
  return before == carrier_of(request).get() ? Freshness::recent : Freshness::unused;
}

void note_connection(Request& request, unsigned number, bool copy, const UpstreamConnection& connection) {
  // Of two at once the second may be out first.
  if (number > 1 && !copy) request.recent = {};
  request.recent[number % request.recent.size()] = connection.number();
}

policy::AttemptReport report_of_unsent(const Request& request, unsigned number,
                                       const policy::UpstreamAddress& address) {
  return {false, policy::Sent::nothing, request.body.replayable(), judge_now(request), number, address};
}

Unread unread_of(UpstreamConnection& connection) {
  return connection.reused() ? Unread::nothing : connection.stream().unread();
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

std::unique_ptr<UpstreamConnection> lease(Worker& worker, Request& request, const policy::Start& start) {
  Upstream& carrier = *carrier_of(request);
  // A connection to the parent proxy carries requests for every host: each is judged as if it were dialled.
  const bool judged = &carrier != request.upstream.get();
  if (judged && request.snapshot->filter->judge_unresolved(request.upstream->host, request.upstream->port) !=
                    AddressVerdict::allowed)
    return nullptr;
  auto connection = request.pin->take(carrier);
  if (connection == nullptr && !start.fresh)
    connection = worker.pool.lease(carrier, request.freshness, request.recent);
  if (connection != nullptr) connection->stream().set_user_timeout(user_timeout_of(request));
  return connection;
}

Task<std::optional<policy::Failed>> connect_for(Worker& worker, const Request& request, AttemptCancel& cancel,
                                                std::optional<Instant> deadline, Response& response,
                                                policy::UpstreamAddress& address) {
  const ParentRoute route{*request.upstream, request.head, is_for_parent(request)};
  Dialer dialer = worker.dialer(*request.snapshot);
  Dialled dialled = co_await connect(dialer, route, ConnectTime(request.policy->connect_timeout, deadline),
                                     cancel, response.buffer);
  address = as_address(dialer.dialled);
  if (const auto* failed = std::get_if<policy::Failed>(&dialled)) co_return *failed;
  response.connection = std::make_unique<UpstreamConnection>(
      worker.pool, carrier_of(request), std::get<std::unique_ptr<Stream>>(std::move(dialled)));
  response.connection->set_address(address);
  response.connection->stream().set_user_timeout(user_timeout_of(request));
  co_return std::nullopt;
}

}  // namespace reprise::net
