// What would become of a request, and why: what `explain`
// tells, found by driving the proxy's own state machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/exchange.hpp"
#include "proxy/policy/decision/resume.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::tools {

/// A request, and what is assumed of its attempts.
struct Question {
  policy::RequestView request;
  /// Its fields as they leave, which alone the rules go by (row L11); null: the same as they came.
  const policy::FieldLines* leaving = nullptr;
  const policy::JsonBody* body = nullptr;  ///< null for a body that cannot be looked into (content-coded)
  std::uint64_t body_bytes = 0;
  /// What the bodies of all requests together may take, in memory and on disk: one body takes no more.
  std::uint64_t total_memory = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total_disk = std::numeric_limits<std::uint64_t>::max();
  /// What it says of ranges; where it is no GET, a broken body is not continued.
  policy::DownloadRequest download;
  /// When its signature runs out, whatever the route says of signatures (row E11).
  std::optional<policy::Instant> signature_end;
  bool tunnel = false;  ///< CONNECT: only the dial is tried, which is always safe to repeat
  bool bound = false;   ///< its credentials are those of its connection: once sent it is not sent again
  policy::Facts facts;  ///< idempotent and safe_method are judged here, the rest is taken as given
  /// What the first attempt and every later one comes to. attempt_timeout and response_timeout stand for "no
  /// response": the route says which of them it is and when. The body of a Failed at Stage::body breaks after
  /// a head of 200: within what the route holds back, if it holds bytes back.
  policy::Outcome outcome = policy::Answered{503, {}};
  /// The attempt that the explanation begins with. Those before it are taken to have failed at once, each
  /// followed by its backoff; `wait` is filled from that.
  policy::Attempt first;
};

/// A route that was asked before the one that matches.
struct PassedOver {
  std::size_t route = 0;
  policy::Mismatch why = policy::Mismatch::none;
};

/// One wait that may come. All spans are of real runs: whatever the dice roll, the wait is inside.
struct PlannedWait {
  unsigned after = 1;           ///< the attempt before it
  policy::Duration lowest{};    ///< of the wait
  policy::Duration highest{};   ///< of the wait; what the deadline leaves, where that is less
  policy::Duration earliest{};  ///< start of the next attempt, from the request head
  policy::Duration latest{};
};

/// How it goes if the dice always roll the same end.
struct Course {
  policy::Attempt first;           ///< as decide() saw it
  policy::Duration first_ended{};  ///< from the request head
  double first_budget_left = 0;
  policy::Verdict first_verdict;
  policy::Attempt last;
  policy::Duration last_ended{};
  policy::Verdict last_verdict;
  bool endless = false;  ///< still trying after `most_attempts`; `last_verdict` is then a yes
  policy::Action end;    ///< Deliver, Cut or Fail, where it is not endless
  policy::Ledger ledger;
};

struct Explanation {
  std::size_t route = 0;
  std::vector<PassedOver> passed_over;
  policy::Judgement judgement;  ///< what the rule says; its condition belongs to the route table
  bool held = true;             ///< the body can be played again
  bool over_total = false;      ///< not held, and it would be if it were alone: limits.replay_memory or _disk
  bool bound = false;           ///< as the question has it
  bool metadata = false;        ///< the host is where a cloud serves credentials (row N20)
  policy::Facts facts;          ///< as decide() saw them
  policy::Outcome outcome;      ///< as decide() saw it
  std::vector<PlannedWait> waits;
  bool waits_left_out = false;  ///< there may be more of them than are listed
  Course lowest;                ///< with the lowest rolls
  Course highest;               ///< with the highest ones
  /// The response's body breaks, and the route continues it if the response's own head allows: one version of
  /// the bytes by `resume.validators`, a known length, no content coding. Without that the courses hold.
  bool resumes = false;
  /// Where a head that allows it would not help: the gate that is closed.
  policy::Reason not_resumed = policy::Reason::response_started;
  policy::WaitRange resume_wait;  ///< before the first attempt to continue it
  /// Whether a copy of the first attempt would start, or the gate that is closed; absent: the route sends
  /// none of such a request.
  std::optional<policy::Reason> hedge;
};

/// More waits than this are not listed.
inline constexpr std::size_t most_waits = 64;
/// A course is not followed further.
inline constexpr unsigned most_attempts = 10'000;

/// Pure. The budget is that of an upstream which no other request goes to.
Explanation explain(const policy::RouteTable&, const Question&);

}  // namespace reprise::tools
