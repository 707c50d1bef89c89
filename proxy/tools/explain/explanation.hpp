// Explains what would happen to a request, and why. The proxy's own state machine makes all decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proxy/policy/decision/attempt_limit.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/exchange.hpp"
#include "proxy/policy/decision/resume.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::tools {

/// A request, and the assumptions about its attempts.
struct Question {
  policy::RequestView request;
  /// The header fields that reprise would send upstream; the rules use only these fields (row L11). Null if
  /// they are the same as those of `request`.
  const policy::FieldLines* leaving = nullptr;
  const policy::JsonBody* body = nullptr;  ///< request body; null if the body has a content coding
  std::uint64_t body_bytes = 0;
  /// Limits in bytes for the held bodies of all requests together, in memory and on disk. A body that is
  /// larger than the limit is not held.
  std::uint64_t total_memory = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total_disk = std::numeric_limits<std::uint64_t>::max();
  /// Facts about the request that decide whether a broken response body can be resumed, such as its method
  /// and Range field.
  policy::DownloadRequest download;
  /// Time at which the request's signature expires; set even if the route ignores signatures (row E11).
  std::optional<policy::Instant> signature_end;
  bool tunnel = false;  ///< the request is a CONNECT: each attempt only dials, so a repetition is always safe
  bool http2 = false;   ///< the client uses HTTP/2, so a route with `http2: auto` uses it too
  bool bound =
      false;  ///< credentials are valid for one connection, as with NTLM: the request is never sent twice
  /// explain() computes the members `idempotent` and `safe_method` of the facts; the caller sets the other
  /// members.
  policy::Facts facts;
  /// The outcome that is assumed for every attempt. attempt_timeout and response_timeout both mean "no
  /// response": the route decides which timeout applies, and when. A failure at Stage::body means that the
  /// response has status 200 and its body breaks. If the route holds bytes back, the body breaks within these
  /// bytes.
  policy::Outcome outcome = policy::Responded{503, {}};
  /// Status with which a gRPC call ends after its first message. `outcome` is then the response head, a 200.
  /// Absent if the call ends earlier.
  std::optional<policy::GrpcStatus> late_status;
  /// The first attempt that is explained. Earlier attempts are assumed to have failed at once, each followed
  /// by its backoff. explain() computes `wait` of this attempt from these backoffs.
  policy::Attempt first;
};

/// A route that was tried before the matching route, and did not match.
struct PassedOver {
  std::size_t route = 0;
  policy::Mismatch why = policy::Mismatch::none;
};

/// A wait that may follow an attempt. Its bounds hold for all random draws.
struct PlannedWait {
  unsigned after = 1;           ///< number of the attempt before the wait
  policy::Duration lowest{};    ///< shortest wait
  policy::Duration highest{};   ///< longest wait, at most the time left until the deadline
  policy::Duration earliest{};  ///< earliest start of the next attempt, counted from the request head
  policy::Duration latest{};
};

/// What happens to the request if every random draw gives its lowest value, or if every draw gives its
/// highest value.
struct Course {
  policy::Attempt first;           ///< first attempt, as decide() received it
  policy::Duration first_ended{};  ///< end of the first attempt, counted from the request head
  double first_budget_left = 0;
  policy::Verdict first_verdict;
  policy::Attempt last;
  policy::Duration last_ended{};
  policy::Verdict last_verdict;
  bool endless = false;  ///< still retrying after `most_attempts` attempts; `last_verdict` is then a retry
  policy::Action end;    ///< last action; if `endless` is false: Deliver, Cut or Fail
  policy::Ledger ledger;
};

struct Explanation {
  std::size_t route = 0;
  std::vector<PassedOver> passed_over;
  std::string call;          ///< SERVICE/METHOD of a gRPC call; empty for any other request
  bool late_status = false;  ///< the call ends with a status after its first message
  /// The earlier of the route's deadline and the call's own deadline, counted from the request head.
  std::optional<policy::Duration> deadline;
  bool deadline_of_call = false;  ///< `deadline` is the call's own
  policy::Judgement judgement;  ///< verdict of the idempotency rule; refers to a condition in the route table
  bool held = true;             ///< the request body can be sent again
  bool over_total = false;  ///< the body is not held, and exceeds limits.replay_memory or limits.replay_disk
  bool bound = false;       ///< copy of `Question::bound`
  bool http2 = false;       ///< the request is sent over HTTP/2
  bool metadata = false;    ///< the host is a metadata service of a cloud, which issues credentials (row N20)
  policy::Facts facts;      ///< the facts as decide() received them
  policy::Outcome outcome;  ///< the outcome as decide() received it
  /// Nothing ends the first attempt: no response arrives, and no timer bounds the wait for it. The courses
  /// then have one attempt, whose verdict and end are meaningless.
  bool hangs = false;
  std::vector<PlannedWait> waits;
  bool waits_left_out = false;  ///< more waits are possible than `waits` lists
  Course lowest;                ///< course if every draw gives its lowest value
  Course highest;               ///< course if every draw gives its highest value
  /// True if the response body breaks and the route would resume the download. A resume requires a response
  /// head with a validator that `resume.validators` lists, a known length, and no content coding. `lowest`
  /// and `highest` assume a head that does not allow a resume.
  bool resumes = false;
  /// Why the download would not be resumed even if the response head allowed it.
  policy::Reason not_resumed = policy::Reason::response_started;
  /// The limit that ended the request, if its reason is `attempts_spent`.
  policy::AttemptLimit limit = policy::AttemptLimit::attempts;
  policy::WaitRange resume_wait;  ///< range of the wait before the first resume
  /// `hedged` if a hedge would be sent beside the first attempt, otherwise the reason why none would be sent.
  /// Absent if the route does not hedge requests of this kind.
  std::optional<policy::Reason> hedge;
};

/// Maximum number of waits in an explanation.
inline constexpr std::size_t most_waits = 64;
/// Maximum number of attempts in a course.
inline constexpr unsigned most_attempts = 10'000;

/// Returns the explanation. A pure function. Assumes that no other request uses the upstream's budget and
/// circuit, and that the circuit is closed when the request arrives.
Explanation explain(const policy::RouteTable&, const Question&);

}  // namespace reprise::tools
