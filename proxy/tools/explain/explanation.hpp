// Explains what would happen to a request and why, by driving the proxy's own state machine.
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

/// A request, and the assumptions about its attempts.
struct Question {
  policy::RequestView request;
  /// The fields as they leave reprise; only these count for the rules (row L11). Null if they equal those of
  /// `request`.
  const policy::FieldLines* leaving = nullptr;
  const policy::JsonBody* body = nullptr;  ///< null if the body cannot be read (content-coded)
  std::uint64_t body_bytes = 0;
  /// Limits in bytes for the bodies of all requests together, in memory and on disk, so also for one body.
  std::uint64_t total_memory = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total_disk = std::numeric_limits<std::uint64_t>::max();
  /// What the request says about ranges. If it is not a GET, a broken body is not resumed.
  policy::DownloadRequest download;
  /// When the request's signature expires, even if the route ignores signatures (row E11).
  std::optional<policy::Instant> signature_end;
  bool tunnel = false;  ///< CONNECT: only the dial is an attempt, which is always safe to repeat
  bool bound = false;   ///< bound to the credentials of its connection: never sent again once it was sent
  /// `idempotent` and `safe_method` are computed here; the other members are used as they are
  policy::Facts facts;
  /// Outcome of the first and of every later attempt. attempt_timeout and response_timeout mean "no
  /// response": the route decides which of them applies, and when. A Failed at Stage::body means a response
  /// with status 200 whose body breaks: within the bytes that the route holds back, if there are any.
  policy::Outcome outcome = policy::Responded{503, {}};
  /// The attempt with which the explanation begins. Attempts before it are assumed to have failed at once,
  /// each followed by its backoff, from which `wait` is computed.
  policy::Attempt first;
};

/// A route before the matching one, which does not match.
struct PassedOver {
  std::size_t route = 0;
  policy::Mismatch why = policy::Mismatch::none;
};

/// One possible wait. Its bounds hold for all dice rolls.
struct PlannedWait {
  unsigned after = 1;           ///< the attempt before the wait
  policy::Duration lowest{};    ///< shortest wait
  policy::Duration highest{};   ///< longest wait; at most what the deadline leaves
  policy::Duration earliest{};  ///< start of the next attempt, from the request head
  policy::Duration latest{};
};

/// The course of the request if all dice rolls are lowest, or all are highest.
struct Course {
  policy::Attempt first;           ///< as decide() saw it
  policy::Duration first_ended{};  ///< from the request head
  double first_budget_left = 0;
  policy::Verdict first_verdict;
  policy::Attempt last;
  policy::Duration last_ended{};
  policy::Verdict last_verdict;
  bool endless = false;  ///< still retrying after `most_attempts`; `last_verdict` is then a retry
  policy::Action end;    ///< Deliver, Cut or Fail, unless `endless`
  policy::Ledger ledger;
};

struct Explanation {
  std::size_t route = 0;
  std::vector<PassedOver> passed_over;
  policy::Judgement judgement;  ///< by the idempotency rule; its condition belongs to the route table
  bool held = true;             ///< the body can be replayed
  bool over_total = false;      ///< the body would be held but for limits.replay_memory or limits.replay_disk
  bool bound = false;           ///< as in the question
  bool metadata = false;        ///< the host is a cloud's metadata service for credentials (row N20)
  policy::Facts facts;          ///< as decide() saw them
  policy::Outcome outcome;      ///< as decide() saw it
  std::vector<PlannedWait> waits;
  bool waits_left_out = false;  ///< more waits are possible than are listed
  Course lowest;                ///< with the lowest rolls
  Course highest;               ///< with the highest rolls
  /// True if the body breaks and the route resumes it, provided that the response's head allows that: it
  /// names one version of the bytes by `resume.validators`, has a known length and no content coding. The two
  /// courses assume a head that does not allow it.
  bool resumes = false;
  /// The closed gate, if the body would not be resumed even with such a head.
  policy::Reason not_resumed = policy::Reason::response_started;
  policy::WaitRange resume_wait;  ///< before the first attempt to resume
  /// `hedged` if a copy of the first attempt would start, else the closed gate. Absent if the route sends no
  /// copy of such a request.
  std::optional<policy::Reason> hedge;
};

/// Maximum number of waits that are listed.
inline constexpr std::size_t most_waits = 64;
/// Maximum number of attempts in a course.
inline constexpr unsigned most_attempts = 10'000;

/// Pure. Assumes that no other request uses the upstream's budget.
Explanation explain(const policy::RouteTable&, const Question&);

}  // namespace reprise::tools
