#include <fmt/format.h>

#include "config/keys/scalar.hpp"
#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {

std::vector<std::string> held_back(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route().policy;
  const policy::Outcome& outcome = report.explanation.outcome;
  if (!policy.hold || report.question.tunnel) return {};
  const auto* answered = std::get_if<policy::Answered>(&outcome);
  const bool applies = answered != nullptr ? policy::hold_for(policy, *answered) != nullptr
                                           : policy::is_broken_response(outcome);
  if (!applies) return {};
  std::vector<std::string> lines;
  const std::string time = config::duration_text(policy.hold->time);
  if (policy.hold->bytes > 0) {
    lines.push_back(
        fmt::format("up to {} of the body, for up to {}; a break in them is `truncated`, a later one is not",
                    config::size_text(policy.hold->bytes), time));
  }
  if (answered == nullptr) return lines;
  for (const policy::BodyPredicate& predicate : policy.hold->body) {
    if (!policy::concerns(predicate, answered->status)) continue;
    const std::string asked = policy::describe(predicate);
    lines.push_back(predicate.header.empty()
                        ? fmt::format("for up to {}, to be tried again where the body has `{}`", time, asked)
                        : fmt::format("nothing of it, to be tried again where the head has `{}`", asked));
  }
  return lines;
}

}  // namespace reprise::tools
