#include "proxy/policy/reason.hpp"

namespace reprise::policy {
namespace {

struct Row {
  std::string_view word;
  bool retry;
  bool built;
  std::string_view meaning;
};

// In the order of the enumerators.
constexpr std::array<Row, reason_count> rows{{
    {"success", false, true, "an answer below 400 that the route does not list"},
    {"not_retryable", false, true, "any other answer or failure that the route does not list"},
    {"retryable_status", true, true, "the route lists the status and playing the request again is safe"},
    {"retryable_failure", true, true, "the route lists the failure and playing the request again is safe"},
    {"retryable_body", true, true,
     "a predicate of the route matches the answer and playing the request again is safe"},
    {"stale_connection", true, true,
     "a reused connection ended before any answer byte, or answered 421: once more, at once, on a fresh "
     "connection"},
    {"hedged", true, true, "a second copy was sent beside the first"},
    {"resumed", true, true, "a broken download is being continued"},
    {"not_idempotent", false, true,
     "bytes may have reached the upstream and no rule calls the request idempotent"},
    {"not_replayable", false, true,
     "the request body is no longer held (limits), or the connection was authenticated for it (NTLM, "
     "Negotiate)"},
    {"attempts_spent", false, true, "the route's max_attempts are used up"},
    {"deadline_too_near", false, true, "the route's deadline is over, or would be before the next attempt"},
    {"budget_spent", false, true, "the retry budget of this upstream is used up"},
    {"upstream_said_later", false, true,
     "the upstream asked for a longer pause than the route or the deadline allows"},
    {"upstream_said_no", false, true, "the upstream said that it must not be tried again"},
    {"nested_retry", false, true,
     "the client is itself on a retry, or another reprise has retried this answer, and the route says "
     "refuse"},
    {"signature_expired", false, true, "no attempt can arrive before the request's signature runs out"},
    {"circuit_open", false, true, "the upstream's circuit is open; nothing was sent"},
    {"host_paused", false, true, "the upstream has asked for a pause; nothing was sent"},
    {"address_denied", false, true, "every address of the upstream is under security.deny"},
    {"response_started", false, true, "part of the answer is out and it cannot be continued"},
    {"resume_mismatch", false, true, "the continuation of a download is not the rest of it"},
    {"client_gone", false, true, "the client closed or reset its connection"},
    {"shutting_down", false, true, "reprise is shutting down"},
    {"observe_only", false, true, "the route only observes: it would have been tried again"},
    {"retries_off", false, true, "retries are off for this route"},
}};

const Row& row(Reason reason) { return rows[static_cast<std::size_t>(reason)]; }

}  // namespace

std::string_view word(Reason reason) { return row(reason).word; }
std::string_view meaning(Reason reason) { return row(reason).meaning; }
bool is_retry(Reason reason) { return row(reason).retry; }
bool is_built(Reason reason) { return row(reason).built; }

}  // namespace reprise::policy
