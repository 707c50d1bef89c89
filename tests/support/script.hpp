// The parts of a scripted story: the scene (route, request, dice), and one step per attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "proxy/policy/decision/exchange.hpp"

namespace reprise::play {

using policy::Cause;
using policy::Duration;
using policy::Idempotency;
using policy::Instant;
using policy::Sent;
using policy::Stage;

/// Dice whose rolls the test chooses.
class LoadedDice final : public policy::Dice {
 public:
  static LoadedDice lowest() { return LoadedDice(Kind::lowest, {}); }
  static LoadedDice highest() { return LoadedDice(Kind::highest, {}); }
  /// Rolls these numbers in turn. roll() throws std::out_of_range if a number is above `highest`, or if none
  /// is left.
  static LoadedDice scripted(std::vector<std::uint64_t> rolls) {
    return LoadedDice(Kind::scripted, std::move(rolls));
  }

  std::uint64_t roll(std::uint64_t highest) override {
    ++rolled_;
    if (kind_ != Kind::scripted) return kind_ == Kind::lowest ? 0 : highest;
    const std::uint64_t number = rolls_.at(rolled_ - 1);
    if (number > highest) throw std::out_of_range("a loaded die shows more than it has faces");
    return number;
  }
  std::size_t rolled() const { return rolled_; }

 private:
  enum class Kind : std::uint8_t { lowest, highest, scripted };
  LoadedDice(Kind kind, std::vector<std::uint64_t> rolls) : kind_(kind), rolls_(std::move(rolls)) {}

  Kind kind_;
  std::vector<std::uint64_t> rolls_;
  std::size_t rolled_ = 0;
};

/// An outside event during an attempt, a wait or a delivery.
enum class Interruption : std::uint8_t { none, fin, rst, shutdown };
/// What happens to a response during the wait before the next attempt.
enum class Keeping : std::uint8_t { whole, dropped, still_reading };

/// How the body of a delivered response ends early, if it does.
enum class Breaking : std::uint8_t {
  no,
  is_permanent,  ///< the rest of the body cannot be requested
  in_vain,       ///< the rest of the body can be requested; this attempt delivered no byte
  mid_way,       ///< the rest of the body can be requested; some bytes were delivered
};

/// The outcome of one attempt, and the events during it.
struct Step {
  policy::Outcome outcome;
  Sent sent = Sent::maybe;
  bool on_reused = false;
  bool held = true;
  std::optional<Idempotency> judged;  ///< idempotency of the request; null: as in the scene
  Duration lasting{};                 ///< duration of the attempt
  Duration late{};                    ///< how much later than requested the wait ends
  Keeping keeping = Keeping::whole;
  Breaking breaks = Breaking::no;  ///< applies if this response is delivered at once or continues a download
  bool differs = false;  ///< applies if this attempt is a resume: its 200 or 206 is not the missing part
  Interruption in_attempt = Interruption::none;
  Interruption in_wait = Interruption::none;
  Interruption in_body = Interruption::none;

  Step retry_after(Duration hint) const {
    return with([&](Step& s) { s.hints().retry_after = hint; });
  }
  Step aws_retry_after(Duration hint) const {
    return with([&](Step& s) { s.hints().aws_retry_after = hint; });
  }
  Step says_no() const {
    return with([](Step& s) { s.hints().said_no = true; });
  }
  /// Marks the held part of the response body as matching a body predicate of the route.
  Step body_listed() const {
    return with([](Step& s) { std::get<policy::Responded>(s.outcome).body_listed = true; });
  }
  Step nothing_sent() const {
    return with([](Step& s) { s.sent = Sent::nothing; });
  }
  /// Marks the failure as one after which the upstream reported that it did nothing (HTTP/2).
  Step unprocessed() const {
    return with([](Step& s) {
      std::get<policy::Failed>(s.outcome).unprocessed = true;
      s.sent = Sent::nothing;
    });
  }
  Step reused() const {
    return with([](Step& s) { s.on_reused = true; });
  }
  Step not_held() const {
    return with([](Step& s) { s.held = false; });
  }
  Step judged_as(Idempotency response) const {
    return with([&](Step& s) { s.judged = response; });
  }
  Step takes(Duration time) const {
    return with([&](Step& s) { s.lasting = time; });
  }
  Step wakes_late(Duration time) const {
    return with([&](Step& s) { s.late = time; });
  }
  Step response(Keeping fate) const {
    return with([&](Step& s) { s.keeping = fate; });
  }
  Step body_breaks(Breaking how = Breaking::is_permanent) const {
    return with([&](Step& s) { s.breaks = how; });
  }
  Step differing() const {
    return with([](Step& s) { s.differs = true; });
  }
  Step attempt_sees(Interruption what) const {
    return with([&](Step& s) { s.in_attempt = what; });
  }
  Step wait_sees(Interruption what) const {
    return with([&](Step& s) { s.in_wait = what; });
  }
  Step body_sees(Interruption what) const {
    return with([&](Step& s) { s.in_body = what; });
  }

 private:
  template <typename Change>
  Step with(Change change) const {
    Step copy = *this;
    change(copy);
    return copy;
  }
  policy::Hints& hints() { return std::get<policy::Responded>(outcome).hints; }
};

inline Step status(int code) {
  Step step;
  step.outcome = policy::Responded{code, {}};
  return step;
}

/// Makes a response that ended a gRPC call with that status before its first message.
inline Step ends_call(policy::GrpcStatus call, int code = 200) {
  Step step = status(code);
  std::get<policy::Responded>(step.outcome).grpc = call;
  return step;
}

/// Makes a response that another reprise has made or passed on.
inline Step from_reprise(int code) {
  Step step = status(code);
  std::get<policy::Responded>(step.outcome).hints.from_reprise = true;
  return step;
}

inline Step fails(Stage stage, Cause cause) {
  Step step;
  step.outcome = policy::Failed{stage, cause};
  step.sent = stage < Stage::send ? Sent::nothing : Sent::maybe;
  return step;
}

inline const Step refused = fails(Stage::connect, Cause::refused);
inline const Step reset = fails(Stage::await_head, Cause::reset);
inline const Step closed = fails(Stage::await_head, Cause::closed);
inline const Step timed_out = fails(Stage::await_head, Cause::attempt_timeout);

using Script = std::vector<Step>;

/// The route, the request and the dice of a story. Defaults: the default route, highest rolls.
struct Scene {
  policy::RoutePolicy policy{};
  policy::Facts facts{};
  LoadedDice dice = LoadedDice::highest();

  template <typename Change>
  Scene with(Change change) const {
    Scene copy = *this;
    change(copy.policy, copy.facts);
    return copy;
  }
  Scene rolling(LoadedDice loaded) const {
    Scene copy = *this;
    copy.dice = std::move(loaded);
    return copy;
  }
  Scene attempts(unsigned most) const {
    return with([&](auto& p, auto&) { p.retry.max_attempts = most; });
  }
  Scene unlimited_attempts() const {
    return with([](auto& p, auto&) { p.retry.max_attempts.reset(); });
  }
  Scene deadline(Duration after) const {
    return with([&](auto& p, auto&) { p.retry.deadline = after; });
  }
  /// Sets the client's own deadline for a gRPC call.
  Scene call_deadline(Instant end) const {
    return with([&](auto&, auto& f) { f.call_deadline = end; });
  }
  Scene no_deadline() const {
    return with([](auto& p, auto&) { p.retry.deadline.reset(); });
  }
  Scene backoff(const policy::Backoff& backoff) const {
    return with([&](auto& p, auto&) { p.retry.backoff = backoff; });
  }
  Scene mode(policy::Mode mode) const {
    return with([&](auto& p, auto&) { p.mode = mode; });
  }
  /// Sets a budget of this many retries for the whole story.
  Scene budget(unsigned retries) const {
    return with([&](auto& p, auto&) {
      p.budget = policy::BudgetPolicy{0, (retries + 0.5) / 1e6, std::chrono::seconds(1'000'000)};
    });
  }
  Scene no_budget() const {
    return with([](auto& p, auto&) { p.budget.reset(); });
  }
  Scene resumes(unsigned most) const {
    return with([&](auto& p, auto&) { p.resume.max_attempts = most; });
  }
  /// Adds a signature that expires at `end`.
  Scene signed_until(Instant end) const {
    return with([&](auto& p, auto& f) {
      p.signature_sigv4 = true;
      f.signed_until = end;
    });
  }
  Scene idempotent(Idempotency response) const {
    return with([&](auto&, auto& f) { f.idempotent = response; });
  }
};

inline Scene get() { return Scene{{}, {Idempotency::yes, true, false}}; }
inline Scene put() { return Scene{{}, {Idempotency::yes, false, false}}; }
inline Scene post() { return Scene{{}, {Idempotency::no, false, false}}; }

}  // namespace reprise::play
