#include "proxy/tools/explain/advice.hpp"

#include "proxy/http/message/metadata_service.hpp"
#include "proxy/policy/decision/gates.hpp"

namespace reprise::tools {
namespace {

using namespace policy;

std::string names_of(const IdempotencyRule& rule) {
  std::string names;
  for (const Condition& condition : rule.conditions) {
    // If the rule has other conditions too, omits the condition that the method is idempotent. To meet that
    // condition, the client would have to use another method, which makes a different request.
    const bool is_any_method =
        condition.kind == Condition::Kind::method && condition.name == idempotent_method;
    if (is_any_method && rule.conditions.size() > 1) continue;
    if (!names.empty()) names += ", ";
    names += "`" + describe(condition) + "`";
  }
  return names;
}

// Returns advice about `retry.refused` if the response is a 429, and about `refused_stream` if the upstream
// refused the stream; otherwise an empty text. Many services send 429 only for requests that they have not
// executed.
std::string for_refusal(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  if (failed != nullptr && failed->cause == Cause::stream_refused && !failed->unprocessed)
    return "If this upstream refuses a stream only when it did nothing, give the route `refused_stream: "
           "trust`. Otherwise: ";
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded == nullptr || responded->status != 429) return {};
  return "If this upstream sends 429 only when it did nothing, give the route `retry: {refused: [429]}`. "
         "Otherwise: ";
}

std::string for_not_idempotent(const Explanation& explanation, const IdempotencyRule& rule) {
  if (explanation.facts.changes_protocol && rule.kind == IdempotencyRule::Kind::by_method)
    return "No key should change this: the request asks for another protocol, and reprise cannot know what "
           "was already done in that protocol. The request is retried only if none of it was sent, or after "
           "a status in `retry.refused`, or a 429 or 503 in `retry.on`.";
  if (explanation.facts.create_only && explanation.facts.idempotent == Idempotency::yes)
    return "A request with `If-None-Match: *` only creates, so a second execution would fail because of the "
           "first. To retry it anyway, give the route a rule such as `idempotent: {any: [{header: "
           "If-None-Match}]}`.";
  if (explanation.judgement.verdict == Idempotency::undecided) {
    return "Send the whole body without a content coding, and give the route a `replay.memory` above the "
           "size of the body: only then can reprise look for `" +
           describe(*explanation.judgement.because) + "` in it.";
  }
  switch (rule.kind) {
    case IdempotencyRule::Kind::any:
      return "Send one of these with a value that is not empty: " + names_of(rule) + ".";
    case IdempotencyRule::Kind::all:
      if (explanation.judgement.because == nullptr) break;
      return "The request must also have `" + describe(*explanation.judgement.because) + "`.";
    case IdempotencyRule::Kind::never:
      return "The route has `idempotent: never`: remove it only if a second execution does no harm.";
    case IdempotencyRule::Kind::by_method:
    case IdempotencyRule::Kind::always: break;
  }
  if (!explanation.call.empty())
    return "If a second execution of this method does no harm, give a route with `match: {grpc: [" +
           explanation.call + "]}` the rule `idempotent: always`.";
  return "If the upstream recognizes a repeated request by a key, give the route `idempotent: {any: "
         "[{header: Idempotency-Key}]}` and send that header.";
}

// Returns true for a status of 400 to 499 that a repeated request usually gets again, because it says that
// the request is wrong or that its target does not exist.
bool is_lasting(const Outcome& outcome) {
  const auto* responded = std::get_if<Responded>(&outcome);
  if (responded == nullptr || responded->status < 400 || responded->status >= 500) return false;
  return responded->status != 408 && responded->status != 425 && responded->status != 429;
}

std::string for_lasting_status(int status) {
  if (status == 407)
    return "No key of the route changes this: only a proxy may send 407. If the parent proxy sent it, "
           "correct the user name and password in the key `parent`.";
  const std::string text = "`" + std::to_string(status) + "`";
  return "Correct the request: a repeated request usually gets " + text + " again. List " + text +
         " under `retry.on` of the route only if this upstream sends it for a short time.";
}

std::string for_not_listed(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  if (failed != nullptr && failed->cause == Cause::response_timeout)
    return "List `timeout` under `retry.on` of the route, and give the route an `attempt_timeout`.";
  if (failed != nullptr && failed->cause == Cause::address_is_self)
    return "Send the request to the upstream itself: its target is a listener of this proxy.";
  if (is_lasting(outcome)) return for_lasting_status(std::get<Responded>(outcome).status);
  const std::string word = retry_word(outcome);
  if (word.empty()) return "No key changes this: `retry.on` has no word for this failure.";
  return "List `" + word + "` under `retry.on` of the route.";
}

constexpr std::string_view for_deadline_of_call =
    "Let the client give the call more time (its `grpc-timeout`)";

std::string for_deadline(const Explanation& explanation, const RetryPolicy& retry) {
  if (explanation.deadline_of_call)
    return std::string(for_deadline_of_call) + ", or shorten the `backoff` of the route.";
  const auto* failed = std::get_if<Failed>(&explanation.outcome);
  if (failed != nullptr && failed->cause == Cause::response_timeout && !retry.attempt_timeout)
    return "Give the route an `attempt_timeout` well below its `deadline`.";
  return "Raise `retry.deadline` of the route, or shorten its `backoff`.";
}

std::string for_later(const Explanation& explanation, const RetryPolicy& retry) {
  const Duration asked = explanation.lowest.last_verdict.delay;
  if (asked > retry.retry_after.maximum) {
    return "Raise `retry.retry_after.maximum` (and the deadline, if the pause does not fit), or wait only "
           "for the backoff with `retry_after: {honour: false}`.";
  }
  const std::string how = explanation.deadline_of_call ? std::string(for_deadline_of_call)
                                                       : "Raise `retry.deadline` until the pause fits";
  return how +
         ", or wait only for the backoff with `retry_after: "
         "{honour: false}`.";
}

constexpr std::string_view for_budget = "Raise `budget.floor` or `budget.ratio` of the route.";
constexpr std::string_view for_signature = "Use a signature that is valid for longer, or shorten `backoff`.";

constexpr std::string_view for_started_call =
    "No key changes this: a call is never retried after the first message of its response.";

std::string for_broken(const Explanation& explanation, const RoutePolicy& policy) {
  if (!explanation.call.empty()) return std::string(for_started_call);
  if (explanation.not_resumed == Reason::budget_spent) return std::string(for_budget);
  if (explanation.not_resumed == Reason::signature_expired) return std::string(for_signature);
  if (explanation.resumes)
    return "Let the upstream send its response with " + either_of_validators(policy.resume) +
           ", a Content-Length and no content coding.";
  if (policy.mode == Mode::active && !policy.resume.enabled)
    return "Give the route `resume: {enabled: true}`: a GET whose response has " +
           either_of_validators(policy.resume) + " is then resumed.";
  return "No key changes this: only a GET without a body and without If-Range is resumed, on a route with "
         "`mode: active`.";
}

std::string for_not_replayable(const Explanation& explanation, const RoutePolicy& policy) {
  if (explanation.bound)
    return "No key changes this: the request's credentials (NTLM, Negotiate) belong to its connection and "
           "end with it.";
  if (explanation.over_total)
    return "Raise `limits.replay_memory` or `limits.replay_disk`, the totals of all requests, above the size "
           "of the body; by default, `limits.replay_memory` is at most a quarter of the control group's "
           "memory.";
  if (disk_share(explanation.facts, policy, explanation.http2) > 0)
    return "Raise `replay.disk` of the route above the size of the body.";
  return "Raise `replay.memory` of the route above the size of the body" +
         std::string(explanation.facts.no_store ? ": a `no-store` request is not written to disk."
                                                : ", or `replay.disk` if the route retries such requests.");
}

std::string_view for_spent(AttemptLimit limit) {
  switch (limit) {
    case AttemptLimit::look_ups:
      return "Correct the name of the upstream, or add it to DNS: no key raises this limit.";
    case AttemptLimit::resumes: return "Raise `resume.max_attempts` of the route.";
    case AttemptLimit::attempts: break;
  }
  return "Raise `retry.max_attempts` of the route.";
}

std::string for_nested(const Explanation& explanation, const RoutePolicy& policy) {
  const auto* responded = std::get_if<Responded>(&explanation.outcome);
  if (refuses_nested_client(explanation.facts, policy) || responded == nullptr ||
      !responded->hints.from_reprise)
    return "Turn off the client's own retries, or give the route `nested: allow` under `retry`.";
  return "Let the other reprise, which is between this one and the upstream, do the retries, or give the "
         "route `inner: allow` under `retry`.";
}

std::string for_denied(const Explanation& explanation) {
  if (!explanation.metadata) return "Remove the address from `security.deny`.";
  std::string names;
  for (const std::string_view service : http::metadata_services)
    names.append(names.empty() ? "" : ",").append(service);
  return "Let the client send requests to the cloud's metadata service directly, as it would without a "
         "proxy: its `no_proxy` needs `" +
         names + "`, which `reprise env`, `exec` and `inject` set.";
}

bool may_have_arrived(const Explanation& explanation) {
  const auto* failed = std::get_if<Failed>(&explanation.outcome);
  return failed == nullptr || (failed->stage >= Stage::send && explanation.lowest.last.sent == Sent::maybe);
}

bool is_not_http2(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->cause == Cause::not_http2;
}

std::string advice_alone(Reason reason, const Explanation& explanation, const RoutePolicy& policy) {
  switch (reason) {
    case Reason::success:
      if (explanation.late_status) return std::string(for_started_call);
      return "Nothing is wrong. To retry such a response, list its status under `retry.on`.";
    case Reason::not_retryable: return for_not_listed(explanation.outcome);
    case Reason::not_idempotent:
      return for_refusal(explanation.outcome) + for_not_idempotent(explanation, policy.idempotent);
    case Reason::not_replayable: return for_not_replayable(explanation, policy);
    case Reason::attempts_spent: return std::string(for_spent(explanation.limit));
    case Reason::deadline_too_near: return for_deadline(explanation, policy.retry);
    case Reason::budget_spent: return std::string(for_budget);
    case Reason::upstream_said_later: return for_later(explanation, policy.retry);
    case Reason::upstream_said_no: return "No key changes this: the upstream asks not to retry.";
    case Reason::nested_retry: return for_nested(explanation, policy);
    case Reason::signature_expired:
      if (explanation.facts.one_time)
        return "Let the client sign each try with a new signature. Only if the upstream accepts a credential "
               "twice, give the route `signature: {one_time: false}`.";
      return std::string(for_signature);
    case Reason::ambiguous_outcome:
      return "Send an idempotency key and name it under `idempotent` of the route, or give the route "
             "`ambiguous: response`.";
    case Reason::address_denied: return for_denied(explanation);
    case Reason::response_started: return for_broken(explanation, policy);
    case Reason::observe_only: return "Give the route `mode: active`.";
    case Reason::retries_off: return "Give the route `mode: active`, or `mode: observe` to count first.";
    case Reason::circuit_open: return "Give the route `circuit: off`, or a shorter `open`.";
    case Reason::host_paused: return "Give the route `host_pause: wait`.";
    case Reason::retryable_status:
    case Reason::retryable_body:
    case Reason::retryable_failure:
    case Reason::stale_connection: return "Limit the retries with `retry.max_attempts` or `retry.deadline`.";
    case Reason::hedged:
    case Reason::resumed:
    case Reason::resume_mismatch:
    case Reason::client_gone:
    case Reason::shutting_down: break;
  }
  return "No key changes this.";
}

}  // namespace

std::string retry_word(const Outcome& outcome) {
  if (const auto* responded = std::get_if<Responded>(&outcome)) {
    if (responded->status != 200 || !is_failed_call(*responded)) return std::to_string(responded->status);
    return std::string(call_word_prefix).append(word(*responded->grpc));
  }
  // Finds the first word of `retry.on` that covers the failure.
  for (const FailureWord& word : failure_words) {
    RetryOn on;
    on.*word.listed = true;
    if (on.lists(outcome)) return std::string(word.text);
  }
  return {};
}

std::string advice(Reason reason, const Explanation& explanation, const RoutePolicy& policy) {
  const bool earlier =
      reason == Reason::not_retryable || reason == Reason::retries_off || reason == Reason::nested_retry;
  if (is_not_http2(explanation.outcome) && !explanation.call.empty())
    return policy.http2 == UseHttp2::never
               ? "Give the route `http2: auto`: a gRPC call is never sent over HTTP/1.1."
               : "No key changes this: a gRPC call needs an upstream that speaks HTTP/2.";
  if (is_not_http2(explanation.outcome))
    return "Give the route `http2: auto` or `never`: this upstream does not speak HTTP/2.";
  std::string text = advice_alone(reason, explanation, policy);
  const bool corrects = reason == Reason::not_retryable && is_lasting(explanation.outcome);
  if (earlier && !corrects && explanation.facts.idempotent != Idempotency::yes &&
      may_have_arrived(explanation)) {
    text += " That alone is not enough, because the request is not idempotent. " +
            for_not_idempotent(explanation, policy.idempotent);
  }
  return text;
}

std::string advice_if_hanging(const Explanation& explanation, const RoutePolicy& policy) {
  if (!is_repeatable(explanation.facts, policy, explanation.held))
    return "Give the route a `response_timeout`: the client then gets 504 after that time.";
  if (!policy.retry.on.timeout)
    return "List `timeout` under `retry.on` of the route, and give the route an `attempt_timeout`.";
  return explanation.deadline ? "Give the route an `attempt_timeout` well below its `deadline`."
                              : "Give the route an `attempt_timeout`.";
}

}  // namespace reprise::tools
