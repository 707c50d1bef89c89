// What would become of a request, and why: the answer of `explain`, drawn from the same decide() as the data
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proxy/policy/decide.hpp"
#include "proxy/policy/route.hpp"

namespace reprise::policy {

/// A request, and what is assumed of its attempts.
struct Question {
  RequestView request;
  /// Its fields as they leave, which alone the rules go by (row L11); null: the same as they came.
  const FieldLines* leaving = nullptr;
  const JsonBody* body = nullptr;  ///< null for a body that cannot be looked into (content-coded)
  std::uint64_t body_bytes = 0;
  bool tunnel = false;  ///< CONNECT: only the dial is tried, which is always safe to repeat
  Facts facts;          ///< idempotent and safe_method are judged here, the rest is taken as given
  /// What the first attempt and every later one comes to. attempt_timeout and response_timeout stand for "no
  /// answer": the route says which of them it is and when. The body of a Failed at Stage::body breaks after
  /// a head of 200: within what the route holds back, if it holds bytes back.
  Outcome outcome = Answered{503, {}};
  /// The attempt that the explanation begins with. Those before it are taken to have failed at once, each
  /// followed by its backoff; `wait` is filled from that.
  Attempt first;
};

/// A route that was asked before the one that matches.
struct PassedOver {
  std::size_t route = 0;
  Mismatch why = Mismatch::none;
};

/// One wait that may come. All spans are of real runs: whatever the dice roll, the wait is inside.
struct PlannedWait {
  unsigned after = 1;   ///< the attempt before it
  Duration lowest{};    ///< of the wait
  Duration highest{};   ///< of the wait; what the deadline leaves, where that is less
  Duration earliest{};  ///< start of the next attempt, from the request head
  Duration latest{};
};

/// How it goes if the dice always roll the same end.
struct Course {
  Attempt first;           ///< as decide() saw it
  Duration first_ended{};  ///< from the request head
  double first_budget_left = 0;
  Verdict first_verdict;
  Attempt last;
  Duration last_ended{};
  Verdict last_verdict;
  bool endless = false;  ///< still trying after `most_attempts`; `last_verdict` is then a yes
};

struct Explanation {
  std::size_t route = 0;
  std::vector<PassedOver> passed_over;
  Judgement judgement;  ///< what the rule says; its condition belongs to the route table
  bool held = true;     ///< the body can be played again
  Facts facts;          ///< as decide() saw them
  Outcome outcome;      ///< as decide() saw it
  std::vector<PlannedWait> waits;
  bool waits_left_out = false;  ///< there may be more of them than are listed
  Course lowest;                ///< with the lowest rolls
  Course highest;               ///< with the highest ones
  /// The answer's body breaks, and the route continues it if the answer's own head allows: one version of
  /// the bytes by `resume.validators`, a known length, no content coding. Without that the courses hold.
  bool resumes = false;
  WaitRange resume_wait;  ///< before the first attempt to continue it
};

/// More waits than this are not listed.
inline constexpr std::size_t most_waits = 64;
/// A course is not followed further.
inline constexpr unsigned most_attempts = 10'000;

/// Pure. The budget is that of an upstream which no other request goes to.
Explanation explain(const RouteTable&, const Question&);

}  // namespace reprise::policy
