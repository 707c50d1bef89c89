#include "tests/support/play.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace reprise::play {
namespace {

/// Executes the actions of one exchange. Takes each outcome from the script; the last step repeats forever.
/// Precondition: run() is called once.
class World {
 public:
  World(const Scene& scene, const Script& script, policy::Dice& dice)
      : scene_(scene),
        script_(script),
        dice_(dice),
        budget_(scene.policy.budget.value_or(policy::BudgetPolicy{})),
        exchange_(scene.policy, scene.facts, scene.policy.budget ? &budget_ : nullptr, epoch) {}

  Played run() {
    played_.deadline = exchange_.deadline();
    policy::Actions actions = note(Event::Kind::began, exchange_.begin(now_, dice_));
    played_.budget_before = budget_.left(now_);
    while (actions.size() > 0 && !played_.endless) actions = obey_all(actions);
    played_.over = exchange_.over();
    played_.ledger = exchange_.ledger();
    copy_entries();
    played_.budget_after = budget_.left(now_);
    if (played_.over) played_.stirred_after_end = stirs();
    return std::move(played_);
  }

 private:
  static constexpr unsigned too_many = 100'000;

  const Step& step() const { return script_[std::min<std::size_t>(number_, script_.size()) - 1]; }

  // Executes the actions. Returns the actions that follow from the last of them. The earlier actions lead to
  // no further actions.
  policy::Actions obey_all(const policy::Actions& actions) {
    policy::Actions next;
    for (const policy::Action& action : actions) {
      next = std::visit([this](const auto& asked) { return this->obey(asked); }, action);
    }
    played_.stuck = !policy::leads_on(exchange_, next);
    return next;
  }

  policy::Actions obey(const policy::Start& start) { return attempt(start); }
  policy::Actions obey(const policy::Wait& wait) { return sleep(wait.until); }
  policy::Actions obey(const policy::Deliver& deliver) { return relay(deliver.number); }
  policy::Actions obey(const policy::Resume& resume) { return attempt({resume.number, true}); }
  policy::Actions obey(const policy::Continue& more) { return relay(more.number); }
  static policy::Actions obey(const policy::Cancel&) { return {}; }
  static policy::Actions obey(const policy::Cut&) { return {}; }
  static policy::Actions obey(const policy::Fail&) { return {}; }
  static policy::Actions obey(const policy::Leave&) { return {}; }

  policy::Actions attempt(const policy::Start& start) {
    number_ = start.number;
    played_.endless = number_ > too_many;
    if (const auto actions = interrupt(step().in_attempt, Event::During::attempt, step().lasting / 2)) {
      return *actions;
    }
    now_ += step().lasting - half_if(step().in_attempt, step().lasting);
    const policy::AttemptReport report{step().on_reused && !start.fresh, step().sent, step().held,
                                       step().judged.value_or(scene_.facts.idempotent)};
    if (const auto* response = std::get_if<policy::Responded>(&step().outcome)) {
      const bool offers_bytes = response->status == 200 || response->status == 206;
      if (out_ && offers_bytes) {
        return note(Event::Kind::attempt_ended, step().differs
                                                    ? exchange_.differed(report, *response, now_)
                                                    : exchange_.continued(report, *response, now_));
      }
      return note(Event::Kind::attempt_ended, exchange_.responded(report, *response, now_, dice_));
    }
    const auto& failure = std::get<policy::Failed>(step().outcome);
    return note(Event::Kind::attempt_ended, exchange_.failed(report, failure, now_, dice_));
  }

  policy::Actions sleep(Instant until) {
    if (std::holds_alternative<policy::Responded>(step().outcome)) {
      if (step().keeping == Keeping::whole) exchange_.response_kept();
      if (step().keeping == Keeping::dropped) exchange_.response_dropped();
    }
    if (const auto actions = interrupt(step().in_wait, Event::During::wait, (until - now_) / 2)) {
      return *actions;
    }
    now_ = until + step().late;
    return note(Event::Kind::wait_ended, exchange_.waited(now_));
  }

  policy::Actions relay(unsigned number) {
    if (const auto actions = interrupt(step().in_body, Event::During::body, Duration::zero())) {
      return *actions;
    }
    if (!out_) delivered_ = number;
    out_ = true;
    const Breaking how = breaking(script_, number_);
    if (how != Breaking::no && number == number_) {
      // A response that broke while it was held breaks again in the same way.
      const bool was_held = policy::is_broken_response(step().outcome);
      const Cause cause = was_held ? std::get<policy::Failed>(step().outcome).cause : Cause::truncated;
      const policy::Break what{cause, how != Breaking::is_permanent, how == Breaking::mid_way, false,
                               scene_.facts.signed_until};
      return note(Event::Kind::body_broke, exchange_.body_broke(what, now_, dice_));
    }
    exchange_.delivered();
    return note(Event::Kind::delivered, {});
  }

  static Duration half_if(Interruption what, Duration whole) {
    return what == Interruption::none ? Duration::zero() : whole / 2;
  }

  // Reports the interruption to the exchange. Returns the actions of the exchange; null if there are none.
  std::optional<policy::Actions> interrupt(Interruption what, Event::During during, Duration later) {
    if (what == Interruption::none) return std::nullopt;
    now_ += later;
    policy::Actions actions;
    if (what == Interruption::fin) actions = exchange_.client_finished(now_);
    if (what == Interruption::rst) actions = exchange_.client_reset(now_);
    if (what == Interruption::shutdown) actions = exchange_.shutdown(now_);
    static_cast<void>(note(Event::Kind::interrupted, actions));
    played_.events.back().interruption = what;
    played_.events.back().during = during;
    return actions.size() > 0 ? std::optional(actions) : std::nullopt;
  }

  policy::Actions note(Event::Kind kind, const policy::Actions& actions) {
    const policy::Ledger& ledger = exchange_.ledger();
    played_.events.push_back({kind, number_, now_, actions, ledger.reason, ledger.ambiguous});
    copy_entries();
    return actions;
  }

  // Copies entries before the ledger evicts them. Later changes affect only the last two entries and the
  // entry of the delivered response.
  void copy_entries() {
    const policy::Ledger& ledger = exchange_.ledger();
    std::vector<policy::LedgerEntry>& entries = played_.entries;
    const std::size_t known = entries.size();
    entries.resize(ledger.size());
    for (std::size_t i = known < 2 ? 0 : known - 2; i < entries.size(); ++i) entries[i] = ledger[i];
    if (delivered_ != 0) entries[delivered_ - 1] = ledger[delivered_ - 1];
  }

  // Returns true if the exchange reacts to any event after its end.
  bool stirs() {
    const std::size_t entries = exchange_.ledger().size();
    const policy::Reason reason = exchange_.ledger().reason;
    const policy::AttemptReport report{false, Sent::nothing, true, Idempotency::yes};
    std::size_t asked = exchange_.waited(now_).size();
    asked += exchange_.responded(report, {503, {}}, now_, dice_).size();
    asked += exchange_.failed(report, {Stage::connect, Cause::refused}, now_, dice_).size();
    exchange_.response_dropped();
    exchange_.response_kept();
    asked += exchange_.body_broke({Cause::reset, true, true}, now_, dice_).size();
    asked += exchange_.continued(report, {206, {}}, now_).size();
    asked += exchange_.differed(report, {206, {}}, now_).size();
    asked += exchange_.uncounted(report, {200, {}}, now_, dice_).size();
    asked += exchange_.client_finished(now_).size();
    asked += exchange_.shutdown(now_).size();
    asked += exchange_.client_reset(now_).size();
    return asked > 0 || !exchange_.over() || exchange_.ledger().size() != entries ||
           exchange_.ledger().reason != reason;
  }

  const Scene& scene_;
  const Script& script_;
  policy::Dice& dice_;
  policy::Budget budget_;
  policy::Exchange exchange_;
  Instant now_ = epoch;
  unsigned number_ = 1;
  bool out_ = false;        ///< the client has received a head
  unsigned delivered_ = 0;  ///< the attempt whose response was delivered; 0: none
  Played played_;
};

std::string words(const policy::Action& action, const Event& event) {
  const std::string because = " (" + std::string(word(event.reason)) + ")";
  if (const auto* start = std::get_if<policy::Start>(&action)) {
    return start->fresh ? "again at once" : "attempt " + std::to_string(start->number);
  }
  if (const auto* wait = std::get_if<policy::Wait>(&action))
    return "sleep " + milliseconds(wait->until - event.at);
  if (const auto* deliver = std::get_if<policy::Deliver>(&action)) {
    const std::string which = deliver->number == event.number ? "" : " " + std::to_string(deliver->number);
    return "deliver" + which + because + (event.ambiguous ? " ambiguous" : "");
  }
  if (const auto* fail = std::get_if<policy::Fail>(&action)) {
    return (fail->gateway_timeout ? "fail 504" : "fail") + because;
  }
  if (const auto* resume = std::get_if<policy::Resume>(&action))
    return "resume " + std::to_string(resume->number);
  if (const auto* more = std::get_if<policy::Continue>(&action))
    return more->number == event.number ? "continue" : "continue " + std::to_string(more->number);
  if (const auto* cancel = std::get_if<policy::Cancel>(&action))
    return "cancel " + std::to_string(cancel->number);
  return (std::holds_alternative<policy::Cut>(action) ? "cut" : "leave") + because;
}

std::string line(const Event& event, const std::vector<policy::LedgerEntry>& entries, const Script& script) {
  constexpr std::string_view interruptions[] = {"", "FIN", "RST", "shutdown"};
  constexpr std::string_view places[] = {"attempt ", "the wait", "the body"};
  std::string before;
  switch (event.kind) {
    case Event::Kind::began:
    case Event::Kind::delivered: return {};
    case Event::Kind::attempt_ended: {
      const std::size_t step = std::min<std::size_t>(event.number, script.size()) - 1;
      before =
          "attempt " + std::to_string(event.number) +
          (entries[event.number - 1].attempt.reused ? " reused" : "") + " -> " + text(script[step].outcome) +
          (event.reason == policy::Reason::resume_mismatch && script[step].differs ? " that is not the rest"
                                                                                   : "");
      break;
    }
    case Event::Kind::wait_ended:
      if (std::holds_alternative<policy::Start>(event.actions[0]) ||
          std::holds_alternative<policy::Resume>(event.actions[0]))
        return {};
      before = "the wait ends late";
      break;
    case Event::Kind::body_broke: before = "the body breaks"; break;
    case Event::Kind::interrupted:
      before = std::string(interruptions[static_cast<std::size_t>(event.interruption)]) + " during " +
               std::string(places[static_cast<std::size_t>(event.during)]);
      if (event.during == Event::During::attempt) before += std::to_string(event.number);
      break;
  }
  return before + " | " + text(event.actions, event) + "\n";
}

}  // namespace

std::string milliseconds(Duration time) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  std::string text = std::to_string(microseconds / 1000);
  if (microseconds % 1000 != 0) text += "." + std::to_string(1000 + microseconds % 1000).substr(1);
  return text + "ms";
}

std::string text(const policy::Outcome& outcome) {
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) {
    return std::string(word(failed->stage)) + " " + std::string(word(failed->cause));
  }
  const auto& responded = std::get<policy::Responded>(outcome);
  std::string line = std::to_string(responded.status);
  if (responded.grpc) line.append(" grpc ").append(policy::word(*responded.grpc));
  if (responded.hints.retry_after) line += " Retry-After " + milliseconds(*responded.hints.retry_after);
  if (responded.hints.aws_retry_after)
    line += " x-amz-retry-after " + milliseconds(*responded.hints.aws_retry_after);
  if (responded.hints.said_no) line += " said no";
  if (responded.hints.from_reprise) line += " from reprise";
  if (responded.body_listed) line += " with a listed body";
  return line;
}

std::string text(const policy::Actions& actions, const Event& event) {
  std::string line;
  for (const policy::Action& action : actions) line += (line.empty() ? "" : ", ") + words(action, event);
  return line.empty() ? "noted" : line;
}

Breaking breaking(const Script& script, std::size_t number) {
  const Step& step = script[std::min(number, script.size()) - 1];
  const Breaking how = number > script.size() ? Breaking::no : step.breaks;
  return how == Breaking::no && policy::is_broken_response(step.outcome) ? Breaking::is_permanent : how;
}

Played run(const Scene& scene, const Script& script, policy::Dice& dice) {
  return World(scene, script, dice).run();
}

Played run(const Scene& scene, const Script& script) {
  LoadedDice dice = scene.dice;
  return run(scene, script, dice);
}

std::vector<double> starts(const Played& run) {
  std::vector<double> seconds;
  for (const policy::LedgerEntry& entry : run.entries) {
    seconds.push_back(std::chrono::duration<double>(entry.started - epoch).count());
  }
  return seconds;
}

std::string transcript(const Played& run, const Script& script) {
  std::string lines;
  for (const Event& event : run.events) lines += line(event, run.entries, script);
  return lines;
}

}  // namespace reprise::play
