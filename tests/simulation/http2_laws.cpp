#include "tests/simulation/http2_laws.hpp"

#include <algorithm>

namespace reprise::simulation {
namespace {

using policy::Cause;
using policy::LedgerEntry;

// Returns true if an upstream's end of this kind can give an attempt this cause.
bool explains(StreamEnd how, Cause cause) {
  switch (cause) {
    case Cause::stream_refused: return how == StreamEnd::refused;
    case Cause::stream_reset: return how == StreamEnd::reset;
    case Cause::goaway: return how == StreamEnd::excluded;
    case Cause::http_1_1_required: return how == StreamEnd::needs_http1 || how == StreamEnd::excluded;
    case Cause::closed: return how == StreamEnd::connection;
    // A response that breaks off has this cause, whatever ended the stream.
    default: return true;
  }
}

bool is_of_stream(Cause cause) {
  return cause == Cause::stream_refused || cause == Cause::stream_reset || cause == Cause::goaway ||
         cause == Cause::http_1_1_required || cause == Cause::closed || cause == Cause::reset;
}

bool is_during(const LedgerEntry& entry, Instant at) { return entry.started <= at && at <= entry.ended; }

// Returns how many attempts ran at that time. Two if one ended when the next one began, or with a hedge.
std::size_t attempts_at(const policy::Ledger& ledger, Instant at) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) count += is_during(ledger[i], at) ? 1 : 0;
  return count;
}

// Returns true if the attempt did not fail in a way that only an upstream causes, or if its upstream did this
// to one of its streams. An attempt is not judged if its head did not reach an upstream, or if it is not
// known which attempt the head belongs to.
bool has_a_cause(const Account& account, const LedgerEntry& entry) {
  const auto* failed = std::get_if<policy::Failed>(&entry.outcome);
  if (failed == nullptr || failed->stage < policy::Stage::send || !is_of_stream(failed->cause)) return true;
  bool was_seen = false;
  for (const Ride& ride : account.rides) {
    if (!is_during(entry, ride.at)) continue;
    was_seen = was_seen || attempts_at(account.ledger, ride.at) == 1;
    if (!ride.is_stream) return true;
    for (const StreamLoss& loss : ride.losses) {
      if (loss.at <= entry.ended && explains(loss.how, failed->cause)) return true;
    }
  }
  return !was_seen;
}

// Returns true if the attempt on this stream ended as soon as the upstream had ended the stream.
bool is_felt(const Account& account, const Ride& ride) {
  constexpr Duration late = std::chrono::milliseconds(60);
  if (!ride.is_stream || ride.responded || ride.losses.empty()) return true;
  bool was_seen = false;
  for (std::size_t i = 0; i < account.ledger.size(); i = account.ledger.next(i)) {
    const LedgerEntry& entry = account.ledger[i];
    if (!is_during(entry, ride.at)) continue;
    was_seen = true;
    if (entry.ended <= ride.losses.front().at + late) return true;
  }
  return !was_seen;
}

}  // namespace

std::string_view broken_stream_law(const Account& account) {
  if (account.ledger.evicted() != nullptr) return {};
  for (std::size_t i = 0; i < account.ledger.size(); i = account.ledger.next(i)) {
    if (!has_a_cause(account, account.ledger[i]))
      return "an attempt fails by what its upstream did to its own stream or connection";
  }
  const bool all_felt = std::all_of(account.rides.begin(), account.rides.end(),
                                    [&](const Ride& ride) { return is_felt(account, ride); });
  return all_felt ? std::string_view() : "the end of a stream is felt by its attempt at once";
}

}  // namespace reprise::simulation
