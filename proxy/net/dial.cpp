#include "proxy/net/dial.hpp"

#include "proxy/net/descriptors.hpp"
#include "proxy/net/failure.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

struct Resolved {
  std::shared_ptr<const Addresses> addresses;
  Failed failure{Stage::resolve, Cause::dns_error};
};

Task<Resolved> resolve(Loop& loop, const std::string& host, Duration limit, Stop& stop) {
  ErrorCode not_a_literal;
  const auto literal = asio::ip::make_address(host, not_a_literal);
  if (!not_a_literal) co_return Resolved{std::make_shared<const Addresses>(Addresses{{literal}}), {}};
  const auto lookup = loop.shared.resolver.start(host, loop.io.get_executor());
  stop.aim_at(lookup.get());
  auto addresses = co_await lookup->wait(limit);
  stop.aim_at(nullptr);
  if (stop.stopped()) co_return Resolved{nullptr, {Stage::resolve, Cause::cancelled}};
  if (addresses == nullptr) {
    loop.shared.metrics.count_lookup(observe::LookupOutcome::timeout);
    co_return Resolved{nullptr, {Stage::resolve, Cause::dns_timeout}};
  }
  if (addresses->list.empty()) co_return Resolved{nullptr, {Stage::resolve, Cause::dns_error}};
  co_return Resolved{std::move(addresses), {}};
}

Task<Dialled> dial_one(Loop& loop, const tcp::endpoint& endpoint, Duration limit, Stop& stop) {
  auto stream = loop.open_stream();
  stop.aim_at(stream.get());
  ErrorCode error = co_await stream->connect(endpoint, limit);
  while (is_out_of_descriptors(error.value()) && loop.pool.make_room()) {
    error = co_await stream->connect(endpoint, limit);
  }
  stop.aim_at(nullptr);
  if (!error) {
    stream->set_user_timeout(user_timeout);
    co_return std::move(stream);
  }
  const Cause cause = stream->take_limit_hit() ? Cause::connect_timeout : cause_of_dial(error);
  co_return Failed{Stage::connect, cause};
}

}  // namespace

Task<Dialled> dial(Loop& loop, const std::string& host, std::uint16_t port, Duration limit, Stop& stop) {
  const Resolved resolved = co_await resolve(loop, host, limit, stop);
  if (resolved.addresses == nullptr) co_return resolved.failure;
  Failed failure{Stage::connect, Cause::address_denied};
  for (const auto& address : resolved.addresses->list) {
    const tcp::endpoint endpoint(address, port);
    const Door door = loop.shared.doors.judge(endpoint);
    if (door == Door::denied) continue;
    if (door == Door::self) {
      failure.cause = Cause::address_is_self;
      continue;
    }
    Dialled one = co_await dial_one(loop, endpoint, limit, stop);
    if (std::holds_alternative<std::unique_ptr<Stream>>(one)) co_return one;
    failure = std::get<Failed>(one);
    if (failure.cause == Cause::cancelled) break;
  }
  co_return failure;
}

}  // namespace reprise::net
