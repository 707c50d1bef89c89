#include "tests/simulation/laws.hpp"

#include <algorithm>
#include <map>

#include "tests/simulation/http2_laws.hpp"

namespace reprise::simulation {
namespace {

using policy::Ledger;
using policy::LedgerEntry;
using policy::Reason;
using std::chrono::seconds;
using telemetry::Ending;

// Tolerance: the proxy's timers fire up to one tick late, and a response takes a moment to arrive.
constexpr Duration late = std::chrono::milliseconds(60);

// Counts the retries with this reason, including evicted entries.
std::size_t count(const Ledger& ledger, Reason reason) {
  const policy::Evicted* evicted = ledger.evicted();
  std::size_t found = evicted == nullptr ? 0 : evicted->retries[static_cast<std::size_t>(reason)];
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i))
    found += ledger[i].verdict.retry && ledger[i].verdict.reason == reason ? 1 : 0;
  return found;
}

// Returns the number of attempts up to the attempt whose body went to the client. Later entries are resumes.
std::size_t attempts_of(const Ledger& ledger) { return ledger.size() - count(ledger, Reason::resumed); }

// Returns true if `holds` is true for each pair of consecutive entries that the ledger still keeps.
template <typename Judge>
bool each_after_another(const Ledger& ledger, Judge holds) {
  for (std::size_t i = 1; i < ledger.size(); i = ledger.next(i)) {
    if (ledger.keeps(i) && ledger.keeps(i - 1) && !holds(ledger[i - 1], ledger[i])) return false;
  }
  return true;
}

// Returns true for a CONNECT whose client TLS the proxy terminates. The proxy reports the requests inside the
// CONNECT, but not the CONNECT itself.
bool is_way_in(const Account& account) { return account.plan.terminated && account.plan.method == "CONNECT"; }

/// Judges one request.
class Judge {
 public:
  Judge(const Account& account, const Scene& scene, const NameBook& names)
      : account_(account), scene_(scene), names_(names), ledger_(account.ledger) {}

  std::string_view first_broken() const {
    if (account_.end == ClientEnd::pending) return "every request ends";
    if (!is_told_once()) return "every request that an upstream saw is told of exactly once";
    if (account_.records == 0) return {};
    if (!ends_alike()) return "the ledger's ending is the client's";
    if (!attempts_are_bounded()) return "attempts are bounded";
    if (account_.arrivals > ledger_.size()) return "no attempt is missing in the ledger";
    if (!waits_are_kept()) return "no attempt starts sooner than asked";
    if (!deadline_is_kept()) return "no attempt starts after the deadline";
    if (!deadline_ends_what_stands_still()) return "nothing in which nothing moves outlasts the deadline";
    if (!departures_are_heeded()) return "nothing is begun for a client that has left";
    if (!shutdown_is_heeded()) return "no attempt follows another once the process is to stop";
    if (!listings_have_a_cause())
      return "a response is listed for what it says where the route asks for that, and there alone";
    if (!connections_are_changed()) return "an attempt never rides the connection of the attempt before it";
    if (!silence_is_noticed())
      return "what can be repeated goes on at once, and within three seconds, where its connection is dead";
    if (!cancels_have_a_cause()) return "an attempt is cancelled for its client, for a copy, or at the end";
    if (const auto law = broken_stream_law(account_); !law.empty()) return law;
    if (!names_fail_by_themselves()) return "a name fails when the resolver has just said so";
    return {};
  }

 private:
  bool asks_for(Tells tells, int status) const {
    const auto& hold = scene_.policy.hold;
    if (!hold || scene_.policy.mode == policy::Mode::off) return false;
    return std::any_of(hold->body.begin(), hold->body.end(), [&](const policy::BodyPredicate& predicate) {
      const std::string& place = tells == Tells::in_json  ? predicate.json
                                 : tells == Tells::in_xml ? predicate.xml
                                                          : predicate.header;
      const bool right =
          !predicate.status || (predicate.status->first <= status && status <= predicate.status->last);
      return right && tells != Tells::nothing && !place.empty();
    });
  }

  // Judges the responses that the ledger records as listed, which means that they match `hold.body`. Each
  // needs an upstream response that really matches. Conversely, a match in a header must always be listed. A
  // match in a body may be missed: the body may be cut off, or arrive after `hold.time`. A response whose
  // body broke during delivery is recorded as failed, not as listed.
  bool listings_have_a_cause() const {
    bool listed = false, broken = false;
    for (std::size_t i = 0; i < ledger_.size(); i = ledger_.next(i)) {
      const auto* failed = std::get_if<policy::Failed>(&ledger_[i].outcome);
      broken = broken || (failed != nullptr && failed->stage == policy::Stage::body);
      const auto* responded = std::get_if<policy::Responded>(&ledger_[i].outcome);
      if (responded == nullptr || !responded->body_listed) continue;
      listed = true;
      const auto& served = account_.served;
      if (std::none_of(served.begin(), served.end(), [&](const Served& one) {
            return one.status == responded->status && asks_for(one.tells, one.status);
          }))
        return false;
    }
    return listed || broken || !account_.got_error_in_head || !asks_for(Tells::in_head, account_.status);
  }

  // Checks that a request has exactly one record. Exception: a request that no upstream saw, and that got no
  // response or a 408 (head too late), may have no record.
  bool is_told_once() const {
    if (account_.records > 1) return false;
    // A CONNECT whose TLS the proxy terminates has no record of its own; only the requests inside the CONNECT
    // have records.
    if (account_.records == 1 || is_way_in(account_)) return true;
    if (account_.arrivals > 0) return false;
    return account_.end != ClientEnd::whole &&
           (account_.end != ClientEnd::own_response || account_.status == 408);
  }

  bool ends_alike() const {
    const bool has_response = account_.end == ClientEnd::whole || account_.end == ClientEnd::own_response;
    if (has_response && account_.ended_before_its_end) return true;
    if (has_response) return account_.ending == Ending::complete || account_.ending == Ending::client_gone;
    return account_.end == ClientEnd::left || account_.ending != Ending::complete ||
           account_.may_miss_response;
  }

  bool attempts_are_bounded() const {
    const std::size_t attempts = attempts_of(ledger_);
    const std::size_t stale = count(ledger_, Reason::stale_connection);
    if (stale > 1) return false;
    const bool alone = scene_.policy.mode != policy::Mode::active;
    const auto most = alone ? std::optional<unsigned>(1) : scene_.policy.retry.max_attempts;
    return !most || attempts <= *most + (most == 1U ? stale : 0);
  }

  bool waits_are_kept() const {
    for (std::size_t i = 0; i < ledger_.size(); i = ledger_.next(i)) {
      const LedgerEntry& entry = ledger_[i];
      if (!entry.verdict.retry || entry.verdict.reason == Reason::hedged) continue;
      const Duration wait = std::max(entry.verdict.delay, asked_pause(entry));
      // The later entry may be a hedge. A hedge does not wait: it started before this attempt ended, so this
      // check accepts it.
      for (std::size_t later = ledger_.next(i); later < ledger_.size(); later = ledger_.next(later)) {
        const Instant started = ledger_[later].started;
        if (started >= entry.ended && started < entry.ended + wait) return false;
      }
    }
    return true;
  }

  Duration asked_pause(const LedgerEntry& entry) const {
    const auto* responded = std::get_if<policy::Responded>(&entry.outcome);
    if (responded == nullptr || !scene_.policy.retry.retry_after.honour) return {};
    if (entry.verdict.reason != Reason::retryable_status) return {};
    return std::min(responded->hints.retry_after.value_or(Duration::zero()),
                    scene_.policy.retry.retry_after.maximum);
  }

  bool deadline_is_kept() const {
    const auto deadline = scene_.policy.retry.deadline;
    if (!deadline) return true;
    const std::size_t attempts = attempts_of(ledger_);
    for (std::size_t i = 0; i < attempts; i = ledger_.next(i)) {
      if (i > 0 && ledger_[i].started > account_.head_at + *deadline + late) return false;
    }
    return true;
  }

  // Checks row L6: a request without progress ends at the deadline. The ledger shows whether the body is
  // replayable. The upstream shows when bytes arrived.
  bool deadline_ends_what_stands_still() const {
    if (!scene_.policy.retry.deadline) return true;
    const Instant end = account_.head_at + *scene_.policy.retry.deadline;
    for (std::size_t i = 0; i < attempts_of(ledger_); i = ledger_.next(i)) {
      const LedgerEntry& entry = ledger_[i];
      const auto* failed = std::get_if<policy::Failed>(&entry.outcome);
      if (failed == nullptr) continue;
      if (failed->stage <= policy::Stage::tls && entry.ended > std::max(entry.started, end) + late)
        return false;
      // The proxy checks ten times a second whether the request makes progress.
      const Instant stuck = std::max({account_.moved, account_.sent, entry.started, begun_by(entry.ended)}) +
                            std::chrono::milliseconds(1100);
      // An upload that made progress during this attempt need not end at the deadline. Bytes that arrive at
      // the start time of the attempt count as progress, because the network may have no latency.
      const bool may_end = scene_.policy.mode == policy::Mode::active && account_.plan.idempotent &&
                           entry.attempt.replayable && account_.moved < entry.started &&
                           is_upload_that_stalled(*failed);
      if (may_end && entry.ended > std::max({entry.started, end, stuck}) + late) return false;
    }
    return true;
  }
  // Returns when the request last began to be sent, up to that time. An attempt may wait for a connection, or
  // for a stream of one, before it sends anything.
  Instant begun_by(Instant time) const {
    Instant begun{};
    for (const Ride& ride : account_.rides) begun = ride.at <= time ? std::max(begun, ride.at) : begun;
    return begun;
  }
  // Returns true if the attempt failed because its upload stalled. Over TLS, a response timeout does not
  // prove a stall: a write that failed may have been delivered, and the proxy then waits for the response.
  bool is_upload_that_stalled(const policy::Failed& failed) const {
    const bool sealed = scene_.policy.tls.originate || account_.plan.terminated;
    const bool idled = failed.cause == policy::Cause::response_timeout && !sealed;
    return failed.stage == policy::Stage::send && (failed.cause == policy::Cause::attempt_timeout || idled);
  }

  // Checks that no attempt begins after the client has left. The proxy notices the departure within one
  // interval of its client watch. After a reset, everything ends within a second (row D14).
  bool departures_are_heeded() const {
    constexpr Duration notice = std::chrono::milliseconds(200);
    const auto left = account_.reset ? account_.reset : account_.finished;
    if (!left) return true;
    const bool heeded = each_after_another(ledger_, [&](const LedgerEntry& before, const LedgerEntry& entry) {
      return is_followed_anyway(before) || entry.started <= *left + notice;
    });
    if (!heeded) return false;
    return !account_.reset || account_.told <= *account_.reset + std::chrono::seconds(1);
  }
  // Checks row D15: no attempt begins after a shutdown. Exceptions: a reconnect and a resume, because both
  // belong to an attempt that began before the shutdown.
  bool shutdown_is_heeded() const {
    const auto told = scene_.drains_at ? scene_.drains_at : scene_.terminates_at;
    if (!told) return true;
    const auto both = scene_.terminates_at ? std::min(*told, *scene_.terminates_at) : *told;
    return each_after_another(ledger_, [&](const LedgerEntry& before, const LedgerEntry& entry) {
      return is_followed_anyway(before) || entry.started <= World::beginning + both;
    });
  }

  // Returns the number (from 1) of the attempt that ran at the time `at`. Returns 0 if no attempt had begun,
  // or if the previous attempt ended at that time or later. Precondition: the ledger has evicted nothing.
  std::size_t attempt_at(Instant at) const {
    std::size_t number = ledger_.size();
    while (number > 0 && ledger_[number - 1].started > at) --number;
    const bool ambiguous = number > 1 && ledger_[number - 2].ended >= at;
    return ambiguous ? 0 : number;
  }

  bool connections_are_changed() const {
    if (ledger_.hedge != policy::HedgeOutcome::none || ledger_.evicted() != nullptr) return true;
    for (std::size_t i = 1; i < account_.rides.size(); ++i) {
      const Ride& before = account_.rides[i - 1];
      const Ride& ride = account_.rides[i];
      const std::size_t earlier = attempt_at(before.at);
      if (earlier > 0 && attempt_at(ride.at) == earlier + 1 && ride.connection == before.connection)
        return false;
    }
    return true;
  }

  // Checks row L4: a dead peer is detected. Hedged requests are not judged: it is not known which of the two
  // attempts used which connection.
  bool silence_is_noticed() const {
    if (ledger_.hedge != policy::HedgeOutcome::none || !account_.plan.repeatable) return true;
    if (ledger_.evicted() != nullptr) return true;
    return std::all_of(account_.in_vain.begin(), account_.in_vain.end(),
                       [this](const SentInVain& sent) { return is_noticed(sent); });
  }

  bool is_noticed(const SentInVain& sent) const {
    if (attempt_at(sent.at) == 0) return true;
    const std::size_t i = attempt_at(sent.at) - 1;
    const LedgerEntry& entry = ledger_[i];
    const bool heard = sent.last_heard > (i == 0 ? account_.head_at : entry.started);
    // If an attempt ended because its client left, the ledger does not say whether the body was still held.
    const bool untold = entry.verdict.reason == Reason::client_gone && account_.plan.body_bytes > 0;
    if (heard || untold || !entry.attempt.replayable) return true;
    constexpr Duration limit = seconds(3);
    const auto deadline = scene_.policy.retry.deadline;
    // The dead peer need not be detected if the deadline passes first.
    if (deadline && sent.at + limit > account_.head_at + *deadline) return true;
    if (entry.ended > sent.at + limit) return false;
    const auto* failed = std::get_if<policy::Failed>(&entry.outcome);
    if (failed == nullptr || failed->cause != policy::Cause::unacknowledged) return true;
    bool first = true;
    for (std::size_t before = 0; before < i; ++before)
      first = first && ledger_[before].verdict.reason != Reason::stale_connection;
    // A resume has waits and limits of its own, and is never repeated at once.
    const bool resumes = i > 0 && ledger_[i - 1].verdict.reason == Reason::resumed;
    // A signed request is not retried once its signature has expired.
    const Reason reason = entry.verdict.reason;
    const bool ends = reason == Reason::client_gone || reason == Reason::shutting_down ||
                      reason == Reason::signature_expired || reason == Reason::nested_retry;
    const auto most = scene_.policy.retry.max_attempts;
    const bool spent = reason == Reason::attempts_spent && most && i + 1 >= *most;
    return resumes || !first || ends || spent || reason == Reason::stale_connection;
  }

  bool cancels_have_a_cause() const {
    const bool left = account_.reset || account_.finished || account_.may_miss_response;
    if (left || scene_.drains_at || scene_.terminates_at) return true;
    if (ledger_.hedge != policy::HedgeOutcome::none) return true;
    for (std::size_t i = 0; i < ledger_.size(); i = ledger_.next(i)) {
      const auto* failed = std::get_if<policy::Failed>(&ledger_[i].outcome);
      if (failed != nullptr && failed->cause == policy::Cause::cancelled) return false;
    }
    return true;
  }

  // Checks row L1: a failed lookup is not cached.
  bool names_fail_by_themselves() const {
    for (std::size_t i = 0; i < ledger_.size(); i = ledger_.next(i)) {
      const auto* failed = std::get_if<policy::Failed>(&ledger_[i].outcome);
      if (failed == nullptr || failed->cause != policy::Cause::dns_error) continue;
      if (!names_.was_answered(account_.plan.host, ledger_[i].ended)) return false;
    }
    return true;
  }

  // Returns true if a reconnect or a resume follows this attempt. Both start at once, so the client watch has
  // no time to run in between.
  static bool is_followed_anyway(const LedgerEntry& entry) {
    return entry.verdict.retry &&
           (entry.verdict.reason == Reason::stale_connection || entry.verdict.reason == Reason::resumed);
  }

  const Account& account_;
  const Scene& scene_;
  const NameBook& names_;
  const Ledger& ledger_;
};

// Returns true if the request succeeded at its first attempt. A hedge beside a slow attempt is not a failure.
bool is_perfect(const Account& account) {
  const bool once = account.arrivals == 1 && account.ledger.size() == 1;
  const bool hedged = account.ledger.hedge != policy::HedgeOutcome::none;
  return account.end == ClientEnd::whole && account.records == 1 && (once || hedged);
}

bool budgets_are_held(Book& book, const Scene& scene) {
  if (!scene.policy.budget) return true;
  // For each host: number of requests, and number of retries charged to the budget.
  std::map<std::string, std::pair<double, double>> hosts;
  for (const auto& [id, account] : book.accounts()) {
    auto& host = hosts[account.plan.host];
    host.first += account.records;
    each_after_another(account.ledger, [&](const LedgerEntry& before, const LedgerEntry& entry) {
      const bool paid = before.verdict.retry && before.verdict.reason != Reason::stale_connection;
      // The charge for an attempt that sent nothing is refunded to the budget.
      const bool unsent = policy::is_unsent(entry.outcome, entry.attempt.sent == policy::Sent::nothing);
      host.second += paid && !unsent ? 1 : 0;
      return true;
    });
  }
  const double floor = scene.policy.budget->floor_per_second *
                       std::chrono::duration<double>(scene.policy.budget->window).count();
  return std::all_of(hosts.begin(), hosts.end(), [&](const auto& host) {
    return host.second.second <= scene.policy.budget->ratio * host.second.first + floor;
  });
}

}  // namespace

void Seen::add(const telemetry::ExchangeRecord& record) {
  if (!telemetry::is_tunnel(record)) ++requests;
  attempts += record.ledger->size();
  for (std::size_t i = 0; i < record.ledger->size(); i = record.ledger->next(i))
    retries += (*record.ledger)[i].verdict.retry ? 1 : 0;
  if (const policy::Evicted* evicted = record.ledger->evicted()) {
    for (const std::uint64_t some : evicted->retries) retries += some;
  }
  recovered += telemetry::is_recovered(record) ? 1 : 0;
}

std::string first_broken_law(Book& book, const Scene& scene, const Faults& faults, const NameBook& names) {
  for (const auto& [id, account] : book.accounts()) {
    if (const auto law = Judge(account, scene, names).first_broken(); !law.empty())
      return std::string(law) + " (request " + std::to_string(id) + ")";
    if (faults.played() == 0 && !is_way_in(account) && !is_perfect(account))
      return "where nothing goes wrong every request is answered at attempt 1 (request " +
             std::to_string(id) + ")";
  }
  return budgets_are_held(book, scene) ? std::string() : "retries stay inside the budget";
}

std::string unlike(const Totals& before, const Totals& after, const Seen& seen) {
  if (after.requests - before.requests != seen.requests)
    return "reprise_requests_total is what the ledgers say";
  if (after.attempts - before.attempts != seen.attempts)
    return "reprise_attempts_total is what the ledgers say";
  if (after.retries - before.retries != seen.retries) return "reprise_retries_total is what the ledgers say";
  if (after.recovered - before.recovered != seen.recovered)
    return "reprise_recovered_total is what the ledgers say";
  if (after.client_connections != 0) return "the gauge of client connections is back at 0";
  return {};
}

}  // namespace reprise::simulation
