#include "proxy/tools/explain/explain_report_json.hpp"

#include <algorithm>
#include <cstdint>

#include "proxy/policy/decision/gates.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::tools {
namespace {

using telemetry::in_milliseconds;
using telemetry::list_of;

json::array passed_over(const ExplainReport& report) {
  json::array all;
  for (const PassedOver& passed : report.explanation.passed_over)
    all.push_back({{"route", (*report.routes)[passed.route].name}, {"why", policy::word(passed.why)}});
  return all;
}

json::object judgement(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  const policy::Condition* const because = explanation.judgement.because;
  return {{"verdict", explanation.facts.idempotent == policy::Idempotency::yes},
          {"rule", policy::describe(report.route_policy().idempotent)},
          {"because", because == nullptr ? json::value() : json::value(policy::describe(*because))}};
}

json::object verdict(const policy::Verdict& verdict, policy::AttemptLimit limit) {
  return {{"retry", verdict.retry},
          {"reason", policy::word(verdict.reason)},
          {"meaning", policy::meaning(verdict.reason, limit)},
          {"delay_ms", in_milliseconds(verdict.delay)}};
}

// Returns a course that begins with an attempt which nothing ends.
json::object hanging(const Course& course) {
  return {{"first", nullptr},
          {"last_attempt", course.last.number},
          {"ended_ms", nullptr},
          {"endless", true},
          {"last", nullptr}};
}

json::object course(const Course& course, const Explanation& explanation) {
  if (explanation.hangs) return hanging(course);
  return {{"first", verdict(course.first_verdict, explanation.limit)},
          {"last_attempt", course.last.number},
          {"ended_ms", in_milliseconds(course.last_ended)},
          {"endless", course.endless},
          {"last", verdict(course.last_verdict, explanation.limit)}};
}

json::array waits(const Explanation& explanation) {
  json::array all;
  for (const PlannedWait& wait : explanation.waits) {
    all.push_back({{"after", wait.after},
                   {"lowest_ms", in_milliseconds(wait.lowest)},
                   {"highest_ms", in_milliseconds(wait.highest)},
                   {"earliest_ms", in_milliseconds(wait.earliest)},
                   {"latest_ms", in_milliseconds(wait.latest)}});
  }
  return all;
}

json::object hedge(const ExplainReport& report) {
  const auto& after = report.route_policy().hedge->after;
  return {{"after_ms", after ? json::value(in_milliseconds(*after)) : json::value("p95")},
          {"reason", policy::word(*report.explanation.hedge)}};
}

json::object limits(const ExplainReport& report) {
  json::object all;
  for (const ReportedLimit& limit : limits_of(report)) all[limit.name] = limit.text;
  return all;
}

json::object call_of(const Explanation& explanation) {
  const std::size_t slash = std::min(explanation.call.find('/'), explanation.call.size());
  return {{"service", explanation.call.substr(0, slash)},
          {"method", explanation.call.substr(std::min(slash + 1, explanation.call.size()))},
          {"deadline_of", !explanation.deadline          ? json::value()
                          : explanation.deadline_of_call ? json::value("call")
                                                         : json::value("route")}};
}

}  // namespace

std::string to_json(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  const policy::Route& route = report.route();
  json::object out;
  if (!report.https.empty()) out["https"] = list_of(report.https);
  out["method"] = report.method;
  out["url"] = report.url;
  out["settings"] = report.settings.empty() ? report.file : report.settings;
  if (!explanation.call.empty()) out["grpc"] = call_of(explanation);
  out["assumed"] = report.assumed;
  out["route"] = {{"name", route.name}, {"place", place_of(route, report.file)}};
  out["passed_over"] = passed_over(report);
  out["idempotent"] = judgement(report);
  out["attempt"] = explanation.lowest.first.number;
  out["waits"] = waits(explanation);
  out["waits_left_out"] = explanation.waits_left_out;
  out["deadline_ms"] = telemetry::milliseconds_or_null(explanation.deadline);
  out["budget_left"] = nullptr;
  if (policy::host_parts(report.route_policy()).budget)
    out["budget_left"] = static_cast<std::uint64_t>(explanation.lowest.first_budget_left);
  if (explanation.hedge) out["hedge"] = hedge(report);
  out["limits"] = limits(report);
  out["held_back"] = list_of(held_back(report));
  out["courses"] = {{"shortest_waits", course(explanation.lowest, explanation)},
                    {"longest_waits", course(explanation.highest, explanation)}};
  out["resumes"] = explanation.resumes;
  if (explanation.resumes) out["resume_validators"] = list_of(report.route_policy().resume.validators);
  out["client_gets"] = client_gets(report);
  out["to_change"] = list_of(advices(report));
  out["notes"] = list_of(report.notes);
  return telemetry::document_text(out) + "\n";
}

}  // namespace reprise::tools
