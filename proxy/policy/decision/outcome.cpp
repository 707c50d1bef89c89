#include "proxy/policy/decision/outcome.hpp"

#include "proxy/policy/match/status_range.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

constexpr std::string_view failure_label(const Failed& failed) {
  if (failed.cause == Cause::cancelled || failed.cause == Cause::replay_lost) return "cancelled";
  switch (failed.stage) {
    case Stage::resolve: return "resolve";
    case Stage::connect: return "connect";
    case Stage::tls: return "tls";
    case Stage::body: return "truncated";
    case Stage::send:
    case Stage::await_head:
    case Stage::head: break;
  }
  const bool timed_out = failed.cause == Cause::attempt_timeout || failed.cause == Cause::response_timeout;
  return timed_out ? "timeout" : "reset";
}

constexpr std::string_view response_label(int status) {
  if (status < 300) return "2xx";
  if (status < 400) return "3xx";
  if (status < 500) return "4xx";
  return status < 600 ? "5xx" : "other";
}

constexpr std::string_view call_label = "grpc";

consteval bool is_listed(std::string_view label) {
  return std::find(outcome_labels.begin(), outcome_labels.end(), label) != outcome_labels.end();
}

// Returns true if `outcome_labels` lists every label. Code that counts by label looks up the position of the
// label in this list.
consteval bool all_are_listed() {
  for (std::uint8_t stage = 0; stage < stage_count; ++stage)
    for (std::uint8_t cause = 0; cause < cause_count; ++cause)
      if (!is_listed(failure_label({static_cast<Stage>(stage), static_cast<Cause>(cause)}))) return false;
  for (int status = 100; status <= highest_status; status += 100)
    if (!is_listed(response_label(status))) return false;
  return is_listed(call_label);
}
static_assert(all_are_listed());

}  // namespace

void Hints::add(const Hints& other) {
  said_no = said_no || other.said_no;
  retry_after = std::max(retry_after, other.retry_after);
  aws_retry_after = std::max(aws_retry_after, other.aws_retry_after);
}

bool is_failed_call(const Responded& responded) {
  return responded.grpc && *responded.grpc != GrpcStatus::ok;
}

std::string_view word(Stage stage) { return names_of<Stage>[static_cast<std::size_t>(stage)]; }
std::string_view word(Cause cause) { return names_of<Cause>[static_cast<std::size_t>(cause)]; }

bool is_broken_response(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->stage == Stage::body && failed->cause != Cause::cancelled;
}

bool is_fault_of_ours(Cause cause) {
  switch (cause) {
    case Cause::dns_error:
    case Cause::dns_timeout:
    case Cause::no_local_port:
    case Cause::no_descriptor:
    case Cause::address_denied:
    case Cause::address_is_self:
    case Cause::parent_unreachable:
    case Cause::parent_timeout:
    case Cause::parent_refused:
    case Cause::cancelled:
    case Cause::replay_lost: return true;
    case Cause::refused:
    case Cause::unreachable:
    case Cause::connect_timeout:
    case Cause::tls_protocol_error:
    case Cause::tls_certificate_error:
    case Cause::tls_alert_received:
    case Cause::closed:
    case Cause::reset:
    case Cause::keepalive_lost:
    case Cause::unacknowledged:
    case Cause::not_http2:
    case Cause::stream_refused:
    case Cause::stream_reset:
    case Cause::goaway:
    case Cause::http_1_1_required:
    case Cause::attempt_timeout:
    case Cause::response_timeout:
    case Cause::malformed_response:
    case Cause::header_too_large:
    case Cause::truncated: break;
  }
  return false;
}

std::string_view reset_code(const Failed& failed) {
  return failed.cause == Cause::stream_reset ? failed.why : std::string_view();
}

bool is_fault_of_ours(const Failed& failed) { return failed.of_parent || is_fault_of_ours(failed.cause); }

std::string cause_text(const Failed& failed) {
  std::string text(word(failed.cause));
  if (const std::string_view code = reset_code(failed); !code.empty())
    text.append(" (").append(code).append(")");
  return text;
}

bool is_unsent(const Outcome& outcome, bool all_unsent) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && (failed->stage < Stage::send || failed->unprocessed || all_unsent);
}

std::string_view outcome_label(const Outcome& outcome) {
  if (const auto* failed = std::get_if<Failed>(&outcome)) return failure_label(*failed);
  const auto& responded = std::get<Responded>(outcome);
  return responded.status == 200 && is_failed_call(responded) ? call_label : response_label(responded.status);
}

}  // namespace reprise::policy
