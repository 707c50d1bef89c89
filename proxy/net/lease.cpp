#include "proxy/net/lease.hpp"

#include <algorithm>

#include "proxy/net/connect.hpp"
#include "proxy/net/parent.hpp"
#include "proxy/policy/decide.hpp"

namespace reprise::net {
namespace {

// As far as the head tells.
bool can_be_held(const Request& request, const HoldLimits& limits) {
  const http::Framing& framing = request.head.framing;
  return framing.kind != http::Framing::Kind::length ||
         framing.length <= std::max<std::uint64_t>(limits.memory, limits.disk);
}

}  // namespace

Freshness freshness_of(const Request& request, const HoldLimits& limits, const Upstream* before) {
  if (policy::is_repeatable(request.facts, *request.policy, can_be_held(request, limits)))
    return Freshness::any;
  return before == carrier_of(request).get() ? Freshness::recent : Freshness::unused;
}

void note_ride(Request& request, unsigned number, bool copy, const UpstreamConnection& connection) {
  // Of two at once the second may be out first.
  if (number > 1 && !copy) request.ridden = {};
  request.ridden[number % request.ridden.size()] = connection.number();
}

policy::AttemptReport report_of_unsent(const Request& request, unsigned number) {
  return {false, policy::Sent::nothing, request.body.replayable(), judge_now(request), number};
}

Unread unread_of(UpstreamConnection& connection) {
  return connection.reused() ? Unread::nothing : connection.stream().unread();
}

std::unique_ptr<UpstreamConnection> lease(Loop& loop, Request& request, const policy::Start& start) {
  Upstream& carrier = *carrier_of(request);
  // A connection to the parent proxy carries requests for every host: each is judged as if it were dialled.
  const bool judged = &carrier != request.upstream.get();
  if (judged &&
      judge_unresolved(loop.shared.doors, request.upstream->host, request.upstream->port) != Door::open)
    return nullptr;
  auto connection = request.pin->take(carrier);
  if (connection == nullptr && !start.fresh)
    connection = loop.pool.lease(carrier, request.freshness, request.ridden);
  if (connection != nullptr) connection->stream().set_user_timeout(user_timeout_of(request));
  return connection;
}

}  // namespace reprise::net
