#include "tests/support/laws.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/support/repeat_oracle.hpp"

namespace reprise::play {
namespace {

class Laws {
 public:
  Laws(const Scene& scene, const Script& script, const Played& played)
      : scene_(scene), script_(script), played_(played) {}

  std::string_view first_broken() const {
    if (played_.endless) return "a story has an end";
    if (!ends_exactly_once()) return "every exchange ends in exactly one of deliver, fail, cut, leave";
    if (played_.stirred_after_end) return "no action after the end";
    if (!ledger_is_consistent()) return "the ledger is consistent";
    if (!no_effect_is_repeated()) return "no effect is repeated";
    if (!only_what_is_listed()) return "only what the route lists is retried";
    if (!attempts_are_bounded()) return "attempts are bounded";
    if (!deadline_is_kept()) return "no attempt starts and no wait ends after the deadline";
    if (!signature_is_kept()) return "nothing is sent again after the signature has run out";
    if (!only_the_rest_is_appended()) return "only the rest of a download is appended to it";
    if (!never_sooner_than_asked()) return "never sooner than asked";
    if (!delivering_never_waits()) return "delivering never waits";
    if (!gives_the_last_response()) return "the client gets the last response at hand";
    if (!stops_for_departures()) return "nothing starts after the client left or the shutdown began";
    if (!ambiguity_is_told()) return "a response that our own attempt may have caused is called ambiguous";
    if (!budget_is_exact()) return "the budget pays for started retries and for nothing else";
    return {};
  }

 private:
  const Step& step(std::size_t i) const { return script_[std::min(i, script_.size() - 1)]; }
  Idempotency judged(std::size_t i) const { return step(i).judged.value_or(scene_.facts.idempotent); }
  bool may_follow_loss(std::size_t i) const {
    return play::may_follow_loss(scene_.facts, scene_.policy, judged(i));
  }
  bool is_refused(std::size_t i) const {
    return says_nothing_was_done(scene_.facts, scene_.policy, step(i).outcome);
  }
  const policy::Responded* response(std::size_t i) const {
    return std::get_if<policy::Responded>(&step(i).outcome);
  }

  bool is_unprocessed(std::size_t i) const {
    const auto* failed = std::get_if<policy::Failed>(&step(i).outcome);
    return failed != nullptr && failed->unprocessed;
  }

  // Returns true if attempt i used a stale connection and was retried at once.
  bool went_stale(std::size_t i) const {
    return i + 1 < played_.entries.size() &&
           played_.entries[i].verdict.reason == policy::Reason::stale_connection;
  }
  bool may_go_stale(std::size_t i) const {
    if (!step(i).held) return false;
    if (is_unprocessed(i)) return true;
    if (!played_.entries[i].attempt.reused || !step(i).on_reused) return false;
    if (scene_.facts.one_time && step(i).sent == Sent::maybe) return false;
    if (response(i) != nullptr) return response(i)->status == 421;
    const auto& failed = std::get<policy::Failed>(step(i).outcome);
    const bool before_response = failed.stage == Stage::send || failed.stage == Stage::await_head;
    return before_response &&
           (failed.cause == Cause::closed || failed.cause == Cause::reset ||
            failed.cause == Cause::unacknowledged) &&
           (step(i).sent == Sent::nothing || may_follow_loss(i));
  }
  std::size_t stale_retries() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < played_.entries.size(); ++i) count += went_stale(i) ? 1 : 0;
    return count;
  }

  // Returns true if a resume followed attempt i.
  bool resumed(std::size_t i) const {
    return i + 1 < played_.entries.size() && played_.entries[i].verdict.reason == policy::Reason::resumed;
  }
  bool is_resume(std::size_t i) const { return i > 0 && resumed(i - 1); }
  bool broke_while_held(std::size_t i) const {
    return !is_resume(i) && policy::is_broken_response(step(i).outcome);
  }
  bool has_body(std::size_t i) const {
    if (broke_while_held(i)) return true;
    return response(i) != nullptr &&
           (!is_resume(i) || response(i)->status == 200 || response(i)->status == 206);
  }
  bool may_resume(std::size_t i) const {
    if (!has_body(i)) return is_resume(i);
    const Breaking how = breaking(script_, i + 1);
    return how == Breaking::in_vain || how == Breaking::mid_way;
  }
  // Returns how many resumes in a row, up to attempt i, delivered no byte.
  unsigned in_vain(std::size_t i) const {
    const bool brought = has_body(i) && breaking(script_, i + 1) == Breaking::mid_way;
    return brought || !is_resume(i) ? 0 : in_vain(i - 1) + 1;
  }
  std::size_t resumes() const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < played_.entries.size(); ++i) found += resumed(i) ? 1 : 0;
    return found;
  }
  // Returns the number of the attempt after which Deliver was first requested. If Deliver was never
  // requested, returns how many attempts there were.
  std::size_t attempts_to_the_head() const {
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions) {
        if (std::holds_alternative<policy::Deliver>(action)) return event.number;
      }
    }
    return played_.entries.size();
  }
  template <typename Kind>
  std::size_t count() const {
    std::size_t found = 0;
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions)
        found += std::holds_alternative<Kind>(action) ? 1 : 0;
    }
    return found;
  }
  const Event* last(Interruption what) const {
    const Event* found = nullptr;
    for (const Event& event : played_.events) found = event.interruption == what ? &event : found;
    return found;
  }

  bool ends_exactly_once() const {
    const std::size_t deliveries = count<policy::Deliver>();
    const std::size_t broken = count<policy::Cut>() + count<policy::Leave>();
    const Event& end = played_.events.back();
    if (!played_.over || played_.stuck || deliveries + count<policy::Fail>() > 1 || broken > 1) return false;
    if (count<policy::Fail>() == 1)
      return broken == 0 && std::holds_alternative<policy::Fail>(end.actions[0]);
    if (deliveries == 0) return broken == 1 && count<policy::Leave>() == 1;
    return (end.kind == Event::Kind::delivered) != (broken == 1);
  }

  // Returns true if every attempt is in the ledger, or is counted among its evicted entries.
  bool ledger_keeps_what_happened() const {
    const policy::Ledger& ledger = played_.ledger;
    if (ledger.size() != played_.entries.size()) return false;
    std::uint64_t kept = 0;
    std::uint64_t retries = 0;
    for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
      const policy::LedgerEntry& entry = played_.entries[i];
      if (ledger[i].attempt.number != entry.attempt.number || ledger[i].started != entry.started)
        return false;
      if (ledger[i].ended != entry.ended || ledger[i].verdict.reason != entry.verdict.reason) return false;
      ++kept;
      retries += ledger[i].verdict.retry ? 1 : 0;
    }
    const policy::Evicted* evicted = ledger.evicted();
    if (kept > policy::Ledger::first_kept + policy::Ledger::last_kept + 1) return false;
    if (evicted == nullptr) return kept == ledger.size();
    if (evicted->attempts + kept != ledger.size()) return false;
    for (const std::uint64_t one : evicted->retries) retries += one;
    const auto tried_again = std::count_if(played_.entries.begin(), played_.entries.end(),
                                           [](const auto& entry) { return entry.verdict.retry; });
    return retries == static_cast<std::uint64_t>(tried_again);
  }

  bool ledger_is_consistent() const {
    const std::vector<policy::LedgerEntry>& entries = played_.entries;
    if (entries.size() != count<policy::Start>() + count<policy::Resume>()) return false;
    unsigned charged = 1;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const policy::LedgerEntry& entry = entries[i];
      const bool last_one = i + 1 == entries.size();
      if (entry.attempt.number != i + 1 || entry.attempt.charged != charged) return false;
      if (entry.started > entry.ended || entry.verdict.retry == last_one) return false;
      if (entry.verdict.retry != is_retry(entry.verdict.reason)) return false;
      if (last_one) break;
      if (entries[i + 1].started - entry.ended != entries[i + 1].attempt.wait + late(i)) return false;
      charged += went_stale(i) || resumed(i) ? 0 : 1;
    }
    const bool left_in_body = last(Interruption::rst) != nullptr && count<policy::Deliver>() == 1;
    return ledger_keeps_what_happened() &&
           played_.ledger.reason ==
               (left_in_body ? policy::Reason::client_gone : entries.back().verdict.reason);
  }
  Duration late(std::size_t i) const { return went_stale(i) ? Duration::zero() : step(i).late; }

  bool no_effect_is_repeated() const {
    for (std::size_t i = 0; i + 1 < played_.entries.size(); ++i) {
      // Skips resumes. A resume sends no request body that would have to be held. The idempotency that was
      // judged before the first response head still applies to it.
      if (is_resume(i)) continue;
      if (!step(i).held && !resumed(i)) return false;
      const bool misdirected =
          response(i) != nullptr && response(i)->status == 421 && played_.entries[i].attempt.reused;
      if (step(i).sent != Sent::maybe) continue;
      if (scene_.facts.one_time) return false;
      if (misdirected || is_refused(i)) continue;
      // If a part of the response was delivered before a resume, the request is a GET.
      const bool known = response(i) != nullptr || resumed(i);
      if (known ? judged(i) != Idempotency::yes : !may_follow_loss(i)) return false;
    }
    return true;
  }

  bool only_what_is_listed() const {
    for (std::size_t i = 0; i + 1 < played_.entries.size(); ++i) {
      if (went_stale(i)) {
        if (!may_go_stale(i)) return false;
        continue;
      }
      if (scene_.policy.mode != policy::Mode::active) return false;
      if (resumed(i) ? !may_resume(i) || !scene_.policy.resume.enabled
                     : !scene_.policy.retry.on.lists(step(i).outcome) && !is_refused(i))
        return false;
      if (is_resume(i) && response(i) != nullptr && !has_body(i) &&
          !scene_.policy.retry.on.lists(step(i).outcome))
        return false;
      if (response(i) != nullptr && response(i)->hints.said_no && !has_body_broken(i)) return false;
      if (response(i) != nullptr && response(i)->hints.from_reprise && !has_body_broken(i) &&
          scene_.policy.retry.inner == policy::Nested::refuse)
        return false;
      if (scene_.facts.nested && scene_.policy.retry.nested == policy::Nested::refuse) return false;
    }
    return true;
  }

  bool has_body_broken(std::size_t i) const { return resumed(i) && has_body(i); }

  bool attempts_are_bounded() const {
    if (stale_retries() > 1) return false;
    for (std::size_t i = 0; i < played_.entries.size(); ++i) {
      if (resumed(i) && in_vain(i) >= scene_.policy.resume.max_attempts) return false;
    }
    const auto most = scene_.policy.retry.max_attempts;
    const std::size_t beyond = most == 1U ? stale_retries() : 0;
    return !most || played_.entries.size() - resumes() <= *most + beyond;
  }

  bool only_the_rest_is_appended() const {
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions) {
        const auto* more = std::get_if<policy::Continue>(&action);
        if (more == nullptr) continue;
        const std::size_t i = more->number - 1;
        if (more->number != event.number || !is_resume(i) || !has_body(i) || step(i).differs) return false;
      }
    }
    return true;
  }

  bool deadline_is_kept() const {
    std::optional<Instant> expected = scene_.facts.call_deadline;
    if (const auto of_route = scene_.policy.retry.deadline;
        of_route && (!expected || epoch + *of_route < *expected))
      expected = epoch + *of_route;
    if (played_.deadline != expected) return false;
    if (!expected) return true;
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions) {
        const auto* start = std::get_if<policy::Start>(&action);
        if (start != nullptr && start->number > 1 && event.at > *played_.deadline) return false;
        const auto* wait = std::get_if<policy::Wait>(&action);
        const bool head_is_out =
            event.kind == Event::Kind::body_broke || event.number > attempts_to_the_head();
        if (wait != nullptr && !head_is_out && wait->until > *played_.deadline) return false;
      }
    }
    return true;
  }

  bool signature_is_kept() const {
    const auto end = scene_.facts.signed_until;
    if (!end) return true;
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions) {
        const auto* start = std::get_if<policy::Start>(&action);
        const bool again =
            (start != nullptr && start->number > 1) || std::holds_alternative<policy::Resume>(action);
        if (again && event.at > *end) return false;
        const auto* wait = std::get_if<policy::Wait>(&action);
        if (wait != nullptr && wait->until > *end) return false;
      }
    }
    return true;
  }

  // x-amz-retry-after lengthens a wait by at most five seconds, and never shortens it.
  static Duration stretched(Duration wait, const policy::Hints& hints) {
    const Duration asked = hints.aws_retry_after.value_or(Duration::zero());
    return std::max(wait, std::min(asked, wait + std::chrono::seconds(5)));
  }

  bool never_sooner_than_asked() const {
    for (std::size_t i = 0; i + 1 < played_.entries.size(); ++i) {
      const Duration gap = played_.entries[i + 1].started - played_.entries[i].ended - late(i);
      if (went_stale(i)) {
        if (gap != Duration::zero()) return false;
        continue;
      }
      const policy::RetryPolicy& retry = scene_.policy.retry;
      policy::Hints hints;
      if (response(i) != nullptr && retry.retry_after.honour && !has_body_broken(i))
        hints = response(i)->hints;
      const Duration hint = hints.retry_after.value_or(Duration::zero());
      const policy::Attempt& attempt = played_.entries[i].attempt;
      const bool first_again = resumed(i) && in_vain(i) == 0;
      const auto range = wait_range(retry.backoff, resumed(i) ? in_vain(i) : attempt.charged - 1,
                                    first_again ? Duration::zero() : attempt.wait);
      if (hint > retry.retry_after.maximum || gap < hint || gap < stretched(range.lowest, hints))
        return false;
      if (gap > std::max(hint, stretched(range.highest, hints))) return false;
    }
    return true;
  }

  bool delivering_never_waits() const {
    for (std::size_t i = 0; i < played_.events.size(); ++i) {
      const Event& event = played_.events[i];
      if (event.kind != Event::Kind::attempt_ended) continue;
      if (event.at != played_.entries[event.number - 1].started + step(event.number - 1).lasting)
        return false;
    }
    return true;
  }

  // Returns the number (from 1) of the attempt whose response the client must get if no other attempt
  // follows; 0 if there is none.
  unsigned response_at_hand() const {
    unsigned at_hand = 0;
    const std::size_t attempts = attempts_to_the_head();
    for (std::size_t i = 0; i < attempts; ++i) {
      if (cancelled(i)) continue;
      const bool retried = i + 1 < attempts;
      // A response that broke while it was held counts only if no retry of its attempt is decided.
      if (broke_while_held(i) && !retried && !waits_after(i)) at_hand = static_cast<unsigned>(i + 1);
      if (response(i) == nullptr) continue;
      const bool waited = retried ? !went_stale(i) : waits_after(i);
      at_hand = static_cast<unsigned>(i + 1);
      if (went_stale(i) || (waited && step(i).keeping == Keeping::dropped)) at_hand = 0;
      if (retried && step(i).keeping == Keeping::still_reading) at_hand = 0;
    }
    return at_hand;
  }
  bool cancelled(std::size_t i) const {
    const auto* failed = std::get_if<policy::Failed>(&played_.entries[i].outcome);
    return failed != nullptr && failed->cause == Cause::cancelled;
  }
  bool waits_after(std::size_t i) const {
    return std::any_of(played_.events.begin(), played_.events.end(), [&](const Event& event) {
      return event.number == i + 1 && event.kind == Event::Kind::attempt_ended && event.actions.size() > 0 &&
             std::holds_alternative<policy::Wait>(event.actions[0]);
    });
  }

  bool is_lost(std::size_t i) const {
    const auto* failed = std::get_if<policy::Failed>(&played_.entries[i].outcome);
    return failed != nullptr && failed->cause != Cause::cancelled &&
           played_.entries[i].attempt.sent == Sent::maybe;
  }
  // Returns true if the status of the response at hand may be a consequence of an earlier, lost attempt that
  // had its effect. The client then gets the failure of the lost attempt instead.
  bool keeps_lost_failure(unsigned at_hand) const {
    if (at_hand == 0 || response(at_hand - 1) == nullptr || scene_.facts.safe_method) return false;
    if (!play::keeps_lost_failure(scene_.policy) || !may_tell_of_repeat(*response(at_hand - 1))) return false;
    for (std::size_t i = 0; i + 1 < at_hand; ++i) {
      if (is_lost(i)) return true;
    }
    return false;
  }

  bool gives_the_last_response() const {
    const unsigned at_hand = response_at_hand();
    const bool first_body = count<policy::Deliver>() == 1 && count<policy::Resume>() == 0;
    for (const Event& event : played_.events) {
      for (const policy::Action& action : event.actions) {
        const bool out_of_time = event.reason == policy::Reason::deadline_too_near &&
                                 scene_.policy.retry.out_of_time == policy::OutOfTime::gateway_timeout;
        const auto* deliver = std::get_if<policy::Deliver>(&action);
        if (deliver != nullptr && (deliver->number != at_hand || out_of_time || keeps_lost_failure(at_hand)))
          return false;
        const auto* fail = std::get_if<policy::Fail>(&action);
        if (fail != nullptr &&
            fail->gateway_timeout != (at_hand != 0 && out_of_time && !keeps_lost_failure(at_hand)))
          return false;
        if (fail != nullptr && at_hand != 0 && !out_of_time && !keeps_lost_failure(at_hand)) return false;
        const auto* cancel = std::get_if<policy::Cancel>(&action);
        const unsigned running = first_body ? at_hand : event.number;
        if (cancel != nullptr && cancel->number != running) return false;
      }
    }
    return true;
  }

  bool stops_for_departures() const {
    bool departed = false;
    for (const Event& event : played_.events) {
      departed = departed || event.interruption != Interruption::none;
      for (const policy::Action& action : event.actions) {
        const bool goes_on = std::holds_alternative<policy::Start>(action) ||
                             std::holds_alternative<policy::Wait>(action) ||
                             std::holds_alternative<policy::Resume>(action);
        if (departed && goes_on) return false;
      }
    }
    const Event* reset_event = last(Interruption::rst);
    return reset_event == nullptr || (count<policy::Leave>() == 1 && reset_event == &played_.events.back());
  }

  bool ambiguity_is_told() const {
    const unsigned at_hand = response_at_hand();
    if (count<policy::Deliver>() == 0) {
      const bool kept = count<policy::Fail>() == 1 && keeps_lost_failure(at_hand);
      return played_.ledger.ambiguous == kept &&
             (played_.ledger.reason == policy::Reason::ambiguous_outcome) == kept;
    }
    bool effect = false;
    for (unsigned i = 0; i + 1 < at_hand; ++i) effect = effect || step(i).sent == Sent::maybe;
    if (response(at_hand - 1) == nullptr) return !played_.ledger.ambiguous;
    const bool tells = may_tell_of_repeat(*response(at_hand - 1));
    return played_.ledger.ambiguous == (effect && tells && !scene_.facts.safe_method);
  }

  // Returns true if the end of attempt i was reported. Only the last attempt may have been cancelled.
  bool was_reported(std::size_t i) const {
    return i + 1 < played_.entries.size() ||
           std::any_of(played_.events.begin(), played_.events.end(), [&](const Event& event) {
             return event.number == i + 1 && event.kind == Event::Kind::attempt_ended;
           });
  }
  bool ended_unsent(std::size_t i) const {
    return was_reported(i) && policy::is_unsent(step(i).outcome, step(i).sent == Sent::nothing);
  }
  // Returns true if attempt i was charged to the budget. The retry of a stale connection is charged only if
  // the attempt that it replaces was charged and then refunded.
  bool is_paid(std::size_t i) const {
    if (i == 0) return false;
    return went_stale(i - 1) ? is_paid(i - 1) && ended_unsent(i - 1) : true;
  }

  // Judges only stories during which no entry leaves the budget's window.
  bool budget_is_exact() const {
    if (!scene_.policy.budget || scene_.policy.budget->window < std::chrono::hours(100)) return true;
    std::size_t retries = 0;
    for (std::size_t i = 1; i < played_.entries.size(); ++i)
      retries += is_paid(i) && !ended_unsent(i) ? 1 : 0;
    std::size_t shadows = 0;  // retries that were only recorded, in mode observe
    for (const Event& event : played_.events) {
      const std::size_t i = event.number - 1;
      // If the response broke while it was held, the decision about a retry was made at the end of the
      // attempt. A break during delivery leads to another decision only if a resume is possible.
      const bool anew = !broke_while_held(i) || (may_resume(i) && scene_.policy.resume.enabled);
      const bool decided =
          event.kind == Event::Kind::attempt_ended || (event.kind == Event::Kind::body_broke && anew);
      shadows += decided && event.reason == policy::Reason::observe_only ? 1 : 0;
    }
    const auto spent = static_cast<double>(retries + shadows);
    return std::abs(played_.budget_before - played_.budget_after - spent) < 0.5;
  }

  const Scene& scene_;
  const Script& script_;
  const Played& played_;
};

}  // namespace

std::string_view first_broken_law(const Scene& scene, const Script& script, const Played& played) {
  return Laws(scene, script, played).first_broken();
}

std::string play(const Scene& scene, const Script& script) {
  const Played played = run(scene, script);
  std::string lines = transcript(played, script);
  const std::string_view broken = first_broken_law(scene, script, played);
  return broken.empty() ? lines : lines + "BROKEN: " + std::string(broken) + "\n";
}

}  // namespace reprise::play
