#include "proxy/tools/simulate/run.hpp"

#include <algorithm>
#include <cassert>
#include <deque>

#include "proxy/policy/decision/gates.hpp"
#include "proxy/tools/simulate/host_accounts.hpp"
#include "proxy/tools/simulate/success.hpp"

namespace reprise::tools {
namespace {

using namespace policy;

constexpr std::uint64_t progress_every = 4096;

bool is_good(const LedgerEntry& entry) {
  const auto* response = std::get_if<Responded>(&entry.outcome);
  return response != nullptr && is_success(response->status, response->grpc);
}

class Run {
 public:
  Run(const Subject& subject, World& world, const RunOptions& options)
      : world_(world),
        options_(options),
        kinds_(judge_kinds(world.kinds(), subject.routes)),
        accounts_(world.clients(), world.kinds(), kinds_),
        dice_(seed_of(options.seed, 5)) {
    measures_.policy = subject.name;
    measures_.step = step_of(options.duration);
    measures_.steps.resize(static_cast<std::size_t>((options.duration - Duration(1)) / measures_.step) + 1);
    step_end_ = Instant{} + measures_.step;
  }

  Measures play() {
    std::optional<Arrival> coming = world_.next();
    Instant end = Instant::max();
    while (coming || (under_way_ > 0 && !events_.empty())) {
      const bool arrives = coming && (events_.empty() || coming->at <= events_.next_at());
      const Instant now = arrives ? coming->at : events_.next_at();
      if (now > end) break;
      look_at_budgets(now);
      ++measures_.events;
      if (arrives) {
        arrive(*coming);
        coming = world_.next();
        if (!coming) end = now + longest_tail;
      } else {
        happen(events_.pop());
      }
    }
    measures_.unfinished = under_way_;
    look_at_budgets(Instant{} + options_.duration);
    measures_.trouble_ended = options_.trouble_ended;
    find_recovery(measures_, options_.trouble_from.value_or(Duration::zero()));
    return std::move(measures_);
  }

 private:
  /// An attempt whose end the request waits for.
  struct Running {
    unsigned number = 0;
    HeadLimit limit;
  };
  /// A request under way.
  struct Place {
    std::optional<Exchange> machine;
    Arrival arrival;
    std::uint32_t life = 0;
    unsigned nth = 0;                ///< number of attempts started so far
    std::optional<Running> attempt;  ///< the current attempt
    std::optional<Running> copy;     ///< the hedged copy of the current attempt
    bool all_in_log = true;          ///< all attempts so far are in the log

    /// Returns the attempt with this number, or null if the request does not wait for this attempt.
    std::optional<Running>* find(unsigned number) {
      if (attempt && attempt->number == number) return &attempt;
      return copy && copy->number == number ? &copy : nullptr;
    }
    bool is_waited_for(unsigned number) { return find(number) != nullptr; }
  };

  void look_at_budgets(Instant now) {
    while (now >= step_end_ && looked_ < measures_.steps.size()) {
      measures_.steps[looked_++].budget = accounts_.worst_budget(step_end_);
      step_end_ += measures_.step;
    }
  }

  Step* step_at(Instant at) {
    const auto place = static_cast<std::size_t>(at.time_since_epoch() / measures_.step);
    return place < measures_.steps.size() ? &measures_.steps[place] : nullptr;
  }

  void arrive(const Arrival& arrival) {
    ++measures_.requests;
    if (Step* step = step_at(arrival.at)) ++step->requests;
    if (options_.progress && measures_.requests % progress_every == 0) options_.progress(measures_.requests);
    const JudgedKind& judged = kinds_[arrival.kind];
    if (judged.unknown) ++measures_.unknown_rule;
    if (under_way_ >= most_under_way) {
      ++measures_.turned_away;
      return;
    }
    const std::uint32_t at = take_place();
    Place& place = places_[at];
    place.arrival = arrival;
    place.nth = 0;
    place.all_in_log = true;
    place.machine.emplace(*judged.policy, judged.facts, accounts_.share(arrival.client, arrival.kind),
                          arrival.at, accounts_.latency(arrival.client, arrival.kind));
    if (options_.patience)
      events_.push({Event::Kind::departure, 0, {at, place.life, 0}, arrival.at + *options_.patience});
    obey(at, place.machine->begin(arrival.at, dice_), arrival.at);
  }

  std::uint32_t take_place() {
    ++under_way_;
    if (free_.empty()) {
      places_.emplace_back();
      return static_cast<std::uint32_t>(places_.size() - 1);
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    return at;
  }

  void happen(const Event& event) {
    const Instant now = event.at;
    const bool worker = event.kind == Event::Kind::served || event.kind == Event::Kind::refusal;
    if (worker) world_.free_worker(now, events_);
    if (event.kind == Event::Kind::refusal) return;
    Place& place = places_[event.ticket.place];
    const std::uint32_t at = event.ticket.place;
    const bool lives = place.life == event.ticket.life && place.machine;
    const unsigned number = event.ticket.attempt;
    const bool waited_for = lives && place.is_waited_for(number);
    if (event.kind == Event::Kind::served && !waited_for) ++measures_.wasted;
    if (!lives) return;
    Exchange& machine = *place.machine;
    switch (event.kind) {
      case Event::Kind::reply:
      case Event::Kind::served:
        if (waited_for) end_attempt(at, number, world_.outcome(event.outcome), now);
        break;
      case Event::Kind::time_out:
        if (waited_for)
          end_attempt(at, number, Failed{Stage::await_head, (*place.find(number))->limit.cause}, now);
        break;
      case Event::Kind::wake: obey(at, machine.waited(now), now); break;
      case Event::Kind::hedge:
        if (waited_for && machine.hedge_at())
          obey(at, machine.hedge_due(report(place, number, {}), now), now);
        break;
      case Event::Kind::departure: obey(at, machine.client_reset(now), now); break;
      case Event::Kind::refusal: break;
    }
  }

  AttemptReport report(const Place& place, unsigned number, const Outcome& outcome) const {
    const auto* failed = std::get_if<Failed>(&outcome);
    const bool unsent = failed != nullptr && failed->stage < Stage::send;
    return {false, unsent ? Sent::nothing : Sent::maybe, true, kinds_[place.arrival.kind].facts.idempotent,
            number};
  }

  void end_attempt(std::uint32_t at, unsigned number, const Outcome& outcome, Instant now) {
    Place& place = places_[at];
    place.find(number)->reset();
    const auto* responded = std::get_if<Responded>(&outcome);
    Exchange& machine = *place.machine;
    const AttemptReport attempt_report = report(place, number, outcome);
    obey(at,
         responded != nullptr ? machine.responded(attempt_report, *responded, now, dice_)
                              : machine.failed(attempt_report, std::get<Failed>(outcome), now, dice_),
         now);
  }

  void obey(std::uint32_t at, const Actions& actions, Instant now) {
    assert(leads_on(*places_[at].machine, actions) || places_[at].attempt || places_[at].copy);
    for (const Action& action : actions) {
      std::visit([&](const auto& command) { obey(command, at, now); }, action);
    }
  }

  void obey(const Start& start, std::uint32_t at, Instant now) { begin_attempt(at, start.number, now); }
  void obey(const Wait& wait, std::uint32_t at, Instant) {
    Place& place = places_[at];
    // Simulated responses are short, so the failed attempt's response is treated as completely read at once.
    place.machine->response_kept();
    events_.push({Event::Kind::wake, 0, {at, place.life, 0}, wait.until});
  }
  void obey(const Cancel& cancel, std::uint32_t at, Instant) {
    if (std::optional<Running>* running = places_[at].find(cancel.number)) running->reset();
  }
  void obey(const Deliver& deliver, std::uint32_t at, Instant now) {
    Exchange& machine = *places_[at].machine;
    const bool good = is_good(machine.ledger()[deliver.number - 1]);
    machine.delivered();
    end_request(at, good, now);
  }
  void obey(const Fail&, std::uint32_t at, Instant now) { end_request(at, false, now); }
  void obey(const Leave&, std::uint32_t at, Instant now) { end_request(at, false, now); }
  // The actions Resume, Continue and Cut do not occur, because simulated response bodies are always complete.
  static void obey(const Resume&, std::uint32_t, Instant) { assert(false); }
  static void obey(const Continue&, std::uint32_t, Instant) { assert(false); }
  static void obey(const Cut&, std::uint32_t, Instant) { assert(false); }

  void begin_attempt(std::uint32_t at, unsigned number, Instant now) {
    Place& place = places_[at];
    const JudgedKind& judged = kinds_[place.arrival.kind];
    ++measures_.attempts;
    if (Step* step = step_at(now)) ++step->attempts;
    if (place.attempt) ++measures_.hedges;
    const HeadLimit limit = head_limit(*judged.policy, is_repeatable(judged.facts, *judged.policy, true), now,
                                       place.machine->deadline());
    (place.attempt ? place.copy : place.attempt) = Running{number, limit};
    const Ticket ticket{at, place.life, number};
    const std::uint64_t assumed = measures_.assumed;
    const AttemptStart begun = world_.begin(ticket, place.arrival, ++place.nth, now, events_, measures_);
    if (measures_.assumed != assumed) place.all_in_log = false;
    if (!begun.ends || *begun.ends > limit.at) events_.push({Event::Kind::time_out, 0, ticket, limit.at});
    const auto hedge = place.machine->hedge_at();
    if (number == 1 && hedge && (!begun.ends || *begun.ends > *hedge))
      events_.push({Event::Kind::hedge, 0, ticket, *hedge});
  }

  void end_request(std::uint32_t at, bool good, Instant now) {
    Place& place = places_[at];
    const Ledger& ledger = place.machine->ledger();
    const Duration took = now - place.arrival.at;
    measures_.latency_of_all.add(took);
    ++measures_.ended[static_cast<std::size_t>(ledger.reason)];
    if (place.nth > 0) measures_.retries += place.nth - 1;
    if (place.all_in_log) ++measures_.decided_by_log;
    if (good) {
      ++measures_.succeeded;
      measures_.latency.add(took);
      if (Step* step = step_at(place.arrival.at)) ++step->succeeded;
    }
    place.machine.reset();
    place.attempt.reset();
    place.copy.reset();
    ++place.life;
    free_.push_back(at);
    --under_way_;
  }

  World& world_;
  const RunOptions& options_;
  const std::vector<JudgedKind> kinds_;
  HostAccounts accounts_;
  SeededDice dice_;
  EventQueue events_;
  std::deque<Place> places_;
  std::vector<std::uint32_t> free_;
  std::size_t under_way_ = 0;
  Measures measures_;
  std::size_t looked_ = 0;
  Instant step_end_{};
};

}  // namespace

RunOptions options_for(const Model& model) {
  RunOptions options;
  options.seed = model.seed;
  options.duration = model.duration;
  options.patience = model.patience;
  const auto trouble = [&](Duration from, Duration to) {
    options.trouble_from = std::min(options.trouble_from.value_or(from), from);
    options.trouble_ended = std::max(options.trouble_ended.value_or(to), to);
  };
  for (const Outage& outage : model.outages)
    trouble(outage.from, std::min(outage.from + outage.length, model.duration));
  for (const Burst& burst : model.bursts) trouble(burst.at, burst.at);
  return options;
}

Measures run(const Subject& subject, World& world, const RunOptions& options) {
  return Run(subject, world, options).play();
}

}  // namespace reprise::tools
