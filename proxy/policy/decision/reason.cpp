#include "proxy/policy/decision/reason.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

/// What a reason means for the request.
enum class Course {
  again,  // it is sent again
  ends,   // it ends
  limit,  // it ends though it would have been sent again: a limit is used up
};

struct Row {
  Reason reason;
  std::string_view word;
  Course course;
  Unattempted unattempted;
  std::string_view meaning;
};

// The word is the enumerator's own name, so that it is written once.
#define REASON(name, course, unattempted, meaning) \
  Row { Reason::name, #name, Course::course, Unattempted::unattempted, meaning }

constexpr std::array<Row, reason_count> rows{
    REASON(success, ends, never, "an answer below 400 that the route does not list"),
    REASON(not_retryable, ends, never, "any other answer or failure that the route does not list"),
    REASON(retryable_status, again, never,
           "the route lists the status and playing the request again is safe"),
    REASON(retryable_failure, again, never,
           "the route lists the failure and playing the request again is safe"),
    REASON(retryable_body, again, never,
           "a predicate of the route matches the answer and playing the request again is safe"),
    REASON(stale_connection, again, never,
           "a reused connection ended before any answer byte, or answered 421: once more, at once, on a "
           "fresh connection"),
    REASON(hedged, again, never, "a second copy was sent beside the first"),
    REASON(resumed, again, never, "a broken download is being continued"),
    REASON(not_idempotent, ends, never,
           "bytes may have reached the upstream and no rule calls the request idempotent"),
    REASON(not_replayable, ends, never,
           "the request body is no longer held (limits), or the connection was authenticated for it (NTLM, "
           "Negotiate)"),
    REASON(attempts_spent, limit, never, "the route's max_attempts are used up"),
    REASON(deadline_too_near, limit, too_late,
           "the route's deadline is over, or would be before the next attempt"),
    REASON(budget_spent, limit, never, "the retry budget of this upstream is used up"),
    REASON(upstream_said_later, limit, never,
           "the upstream asked for a longer pause than the route or the deadline allows"),
    REASON(upstream_said_no, ends, never, "the upstream said that it must not be tried again"),
    REASON(nested_retry, ends, never,
           "the client is itself on a retry, or another reprise has retried this answer, and the route says "
           "refuse"),
    REASON(
        signature_expired, ends, never,
        "no attempt can arrive before the request's signature runs out, or its one-time credential may have "
        "been used"),
    REASON(circuit_open, ends, unavailable, "the upstream's circuit is open; nothing was sent"),
    REASON(host_paused, ends, unavailable, "the upstream has asked for a pause; nothing was sent"),
    REASON(address_denied, ends, forbidden, "every address of the upstream is under security.deny"),
    REASON(ambiguous_outcome, ends, never,
           "an attempt was sent and got no response, and a later response may be about our own repeat"),
    REASON(response_started, ends, never, "part of the answer is out and it cannot be continued"),
    REASON(resume_mismatch, ends, never, "the continuation of a download is not the rest of it"),
    REASON(client_gone, ends, never, "the client closed or reset its connection"),
    REASON(shutting_down, ends, never, "reprise is shutting down"),
    REASON(observe_only, ends, never, "the route only observes: it would have been tried again"),
    REASON(retries_off, ends, never, "retries are off for this route"),
};

#undef REASON

static_assert(follows_enumerators(rows, [](const Row& each) { return each.reason; }));
static_assert(std::none_of(rows.begin(), rows.end(), [](const Row& each) { return each.meaning.empty(); }));

constexpr const Row& row(Reason reason) { return rows[static_cast<std::size_t>(reason)]; }

}  // namespace

std::string_view word(Reason reason) { return row(reason).word; }
std::string_view meaning(Reason reason) { return row(reason).meaning; }
bool is_retry(Reason reason) { return row(reason).course == Course::again; }
bool is_exhausted(Reason reason) { return row(reason).course == Course::limit; }
Unattempted unattempted(Reason reason) { return row(reason).unattempted; }

}  // namespace reprise::policy
