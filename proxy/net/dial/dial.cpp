#include "proxy/net/dial/dial.hpp"

#include "proxy/net/dial/dial_race.hpp"
#include "proxy/net/upstream/address.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

struct Resolved {
  std::shared_ptr<const Addresses> addresses;
  Failed failure{Stage::resolve, Cause::dns_error};
  bool is_literal = false;
};

Task<Resolved> resolve(Dialer& dialer, const std::string& host, const ConnectTime& time,
                       AttemptCancel& cancel) {
  ErrorCode not_a_literal;
  const auto literal = asio::ip::make_address(host, not_a_literal);
  if (!not_a_literal) co_return Resolved{std::make_shared<const Addresses>(Addresses{{literal}}), {}, true};
  const auto lookup = dialer.resolver.start(host, dialer.executor);
  AttemptCancel::Target target(cancel, *lookup);
  auto addresses = co_await lookup->wait(time.for_step(Tick::now()));
  target.end();
  if (cancel.stopped()) co_return Resolved{nullptr, {Stage::resolve, Cause::cancelled}};
  if (addresses == nullptr) {
    dialer.metrics.count_lookup(telemetry::LookupOutcome::timeout);
    co_return Resolved{nullptr, {Stage::resolve, Cause::dns_timeout}};
  }
  if (addresses->list.empty()) {
    Failed failure{Stage::resolve, Cause::dns_error};
    failure.never_existed = addresses->never_existed;
    co_return Resolved{nullptr, failure};
  }
  co_return Resolved{std::move(addresses), {}};
}

/// The addresses of a host name that the address filter allows.
struct Allowed {
  tcp::endpoint first;
  std::vector<tcp::endpoint> all;  ///< empty if there is a single address, to avoid an allocation
  std::size_t count = 0;
  bool self = false;  ///< true if one of the rejected addresses is a listener of this proxy
};

Allowed allowed(const AddressFilter& filter, const Addresses& addresses, std::uint16_t port) {
  Allowed open;
  for (const auto& address : addresses.list) {
    const tcp::endpoint endpoint(address, port);
    const AddressVerdict verdict = filter.judge(endpoint);
    open.self = open.self || verdict == AddressVerdict::self;
    if (verdict != AddressVerdict::allowed) continue;
    if (open.count == 1) open.all.push_back(open.first);
    if (open.count == 0) {
      open.first = endpoint;
    } else {
      open.all.push_back(endpoint);
    }
    ++open.count;
  }
  return open;
}

// Logs a failure at level debug. Logs the number of addresses, but not the addresses (row H9).
void log_failure(Dialer& dialer, const std::string& host, std::size_t dialled, std::size_t known,
                 Failed failure) {
  if (known < 2 || dialer.log.settings().level < config::LogLevel::debug) return;
  std::string text(telemetry::clipped(host));
  text.append(": ")
      .append(std::to_string(dialled))
      .append(" of ")
      .append(std::to_string(known))
      .append(" addresses dialled, no connection established: ")
      .append(policy::word(failure.cause));
  dialer.log.message(config::LogLevel::debug, text, Clock::wall_nanoseconds());
}

Task<Dialled> dial_several(Dialer& dialer, std::vector<tcp::endpoint> endpoints, const ConnectTime& time,
                           AttemptCancel& cancel, std::size_t& dialled) {
  DialRace race(dialer, std::move(endpoints), time);
  Dialled end = co_await race.run(cancel);
  dialled = race.begun();
  co_return end;
}

}  // namespace

Task<Dialled> dial(Dialer& dialer, const std::string& host, std::uint16_t port, ConnectTime& time,
                   AttemptCancel& cancel) {
  const Resolved resolved = co_await resolve(dialer, host, time, cancel);
  if (resolved.addresses == nullptr) co_return resolved.failure;
  Allowed open = allowed(*dialer.snapshot.filter, *resolved.addresses, port);
  Dialled end = Failed{Stage::connect, Cause::address_denied};
  std::size_t dialled = open.count;
  time.dialling(Tick::now());
  if (open.count == 1) {
    end = co_await dial_one(dialer, open.first, time.end_of_step(Tick::now()), cancel);
  } else if (open.count > 1) {
    arrange(open.all, dialer.order);
    for (const tcp::endpoint& each : open.all) dialer.addresses.push_back(as_address(each));
    end = co_await dial_several(dialer, std::move(open.all), time, cancel, dialled);
  }
  if (auto* failed = std::get_if<Failed>(&end)) {
    if (open.self && failed->cause != Cause::cancelled) failed->cause = Cause::address_is_self;
    log_failure(dialer, host, dialled, resolved.addresses->list.size(), *failed);
    const bool was_tried = open.count > 0 && failed->cause != Cause::cancelled;
    if (was_tried && !resolved.is_literal) dialer.resolver.evict(host);
  }
  co_return end;
}

}  // namespace reprise::net
