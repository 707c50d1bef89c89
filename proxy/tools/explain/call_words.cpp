#include "proxy/tools/explain/call_words.hpp"

#include <fmt/format.h>

#include "config/keys/scalar.hpp"
#include "proxy/http/grpc/failure.hpp"
#include "proxy/http/http1/reply.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "proxy/tools/explain/page.hpp"

namespace reprise::tools {
namespace {

using policy::GrpcStatus;

// Returns what follows the messages of a call that breaks after its head (row M78).
std::string end_of_broken_call(const policy::Outcome& outcome) {
  const auto* failed = std::get_if<policy::Failed>(&outcome);
  const bool is_reset = failed != nullptr && (failed->cause == policy::Cause::stream_reset ||
                                              failed->cause == policy::Cause::stream_refused);
  if (is_reset) return "RST_STREAM with the code of the upstream";
  return "grpc-status 14 (unavailable) if a message has just ended, otherwise RST_STREAM with internal_error";
}

}  // namespace

std::string status_text(GrpcStatus status) {
  return fmt::format("{} ({})", static_cast<int>(status), policy::word(status));
}

std::string deadline_owner(const ExplainReport& report) {
  const auto& own = report.explanation.facts.call_deadline;
  if (!own) return {};
  const auto& of_route = report.route_policy().retry.deadline;
  if (!report.explanation.deadline_of_call)
    return fmt::format(" (the route's; the call's own, grpc-timeout, is {})", span(*own - policy::Instant{}));
  if (!of_route) return " (the call's own, grpc-timeout; the route has none)";
  return fmt::format(" (the call's own, grpc-timeout; the route's is {})", span(*of_route));
}

std::string call_gets(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  if (std::holds_alternative<policy::Cut>(explanation.highest.end))
    return "the messages that arrived, then " + end_of_broken_call(report.question.outcome);
  if (const auto& late = report.question.late_status)
    return fmt::format("the upstream's messages as they arrive, then grpc-status {}, unchanged",
                       status_text(*late));
  const auto& responded = std::get<policy::Responded>(explanation.outcome);
  if (!responded.grpc) return fmt::format("the upstream's last response, {}, unchanged", responded.status);
  return fmt::format("the upstream's last response, {} with grpc-status {}, unchanged", responded.status,
                     status_text(*responded.grpc));
}

std::string failed_call_gets(const Explanation& explanation, const Course& course) {
  const int status =
      http::failure_reply(course.ledger, std::get<policy::Fail>(course.end).gateway_timeout, "reprise")
          .status;
  const auto& own = explanation.facts.call_deadline;
  const bool exceeded = status == 504 && own && policy::Instant{} + course.last_ended >= *own;
  return "200 with grpc-status " + status_text(http::status_of_failure(status, exceeded));
}

std::vector<std::string> held_of_call(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  const policy::RoutePolicy& policy = report.route_policy();
  if (!policy::is_repeatable(explanation.facts, policy, explanation.held)) return {};
  return {
      fmt::format("the response head, for up to {}, until its next frame shows whether the call ends; a "
                  "message commits the response (no wait while the client still sends)",
                  config::duration_text(policy::peek_time(policy, true)))};
}

}  // namespace reprise::tools
