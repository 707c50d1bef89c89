#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::policy {
namespace {

// Returns true if a retry would get the same response, because the parent proxy requires another password or
// forbids the upstream (row L16).
bool is_refused_for_good(const Failed& failed) {
  const int status = failed.received_status;
  return status >= 300 && status < 500 && status != 408 && status != 429;
}

bool lists_failure(const RetryOn& on, const Failed& failed) {
  if (failed.unprocessed) return on.connect;
  switch (failed.cause) {
    case Cause::cancelled:
    case Cause::replay_lost:
    case Cause::address_denied:
    case Cause::address_is_self:
    case Cause::malformed_response:
    case Cause::header_too_large:
    // A certificate that is rejected now, the upstream's or ours, will be rejected again a moment later.
    case Cause::tls_certificate_error:
    case Cause::tls_alert_received: return false;
    case Cause::attempt_timeout:
    case Cause::response_timeout: return on.timeout;
    case Cause::parent_refused:
      if (is_refused_for_good(failed)) return false;
      break;
    case Cause::dns_error:
    case Cause::dns_timeout:
    case Cause::refused:
    case Cause::unreachable:
    case Cause::connect_timeout:
    case Cause::no_local_port:
    case Cause::no_descriptor:
    case Cause::parent_unreachable:
    case Cause::parent_timeout:
    case Cause::tls_protocol_error:
    case Cause::closed:
    case Cause::reset:
    case Cause::keepalive_lost:
    case Cause::unacknowledged:
    case Cause::not_http2:
    case Cause::stream_refused:
    case Cause::stream_reset:
    case Cause::goaway:
    case Cause::http_1_1_required:
    case Cause::truncated: break;
  }
  if (failed.stage <= Stage::connect) return on.connect;
  if (failed.stage == Stage::tls) return on.tls;
  return failed.stage == Stage::body ? on.truncated : on.reset;
}

template <std::size_t Size>
bool holds(const std::bitset<Size>& statuses, int status) {
  return status >= 0 && static_cast<std::size_t>(status) < statuses.size() &&
         statuses.test(static_cast<std::size_t>(status));
}

}  // namespace

bool proves_unprocessed(Cause cause, RefusedStream refused) {
  return cause == Cause::goaway || cause == Cause::http_1_1_required ||
         (cause == Cause::stream_refused && refused == RefusedStream::trust);
}

bool RetryOn::lists(const Outcome& outcome) const {
  if (const auto* failed = std::get_if<Failed>(&outcome)) return lists_failure(*this, *failed);
  const auto& responded = std::get<Responded>(outcome);
  const bool call_listed = responded.grpc && calls.test(static_cast<std::size_t>(*responded.grpc));
  return responded.body_listed || call_listed || holds(statuses, responded.status);
}

bool Refused::lists(int status) const { return holds(statuses, status); }

RetryOn RetryOn::defaults() {
  RetryOn on;
  for (const std::size_t status : {429U, 408U, 500U, 502U, 503U, 504U}) on.statuses.set(status);
  on.calls.set(static_cast<std::size_t>(GrpcStatus::unavailable));
  on.connect = on.tls = on.reset = on.timeout = true;
  return on;
}

RoutePolicy policy_of_calls(const RoutePolicy& route) {
  RoutePolicy policy = route;
  policy.response_timeout = route.of_calls.response_timeout.value_or(no_limit);
  policy.idle_timeout = route.of_calls.idle_timeout.value_or(no_limit);
  policy.retry.attempt_timeout = route.of_calls.attempt_timeout;
  policy.resume.enabled = false;
  policy.on_broken = OnBroken::respond;
  return policy;
}

std::string either_of_validators(const ResumePolicy& resume) {
  const std::vector<std::string>& names = resume.validators;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i] == "etag" ? "a strong ETag" : names[i];
  }
  return text;
}

}  // namespace reprise::policy
