#include <cmath>

#include "proxy/policy/decision/gates.hpp"
#include "proxy/telemetry/log/json_writer.hpp"
#include "proxy/tools/explain/advice.hpp"
#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {
namespace {

using policy::Duration;
using telemetry::JsonWriter;

std::string_view yes_or_no(bool value) { return value ? "true" : "false"; }

void write_route(const ExplainReport& report, JsonWriter& json) {
  const policy::Route& route = report.route();
  json.open("route", '{');
  json.text("name", route.name);
  json.text("place", place_of(route, report.file));
  json.close('}');
  json.open("passed_over", '[');
  for (const PassedOver& passed : report.explanation.passed_over) {
    json.open("", '{');
    json.text("route", (*report.routes)[passed.route].name);
    json.text("why", policy::word(passed.why));
    json.close('}');
  }
  json.close(']');
}

void write_judgement(const ExplainReport& report, JsonWriter& json) {
  const Explanation& told = report.explanation;
  json.open("idempotent", '{');
  json.word("verdict", yes_or_no(told.facts.idempotent == policy::Idempotency::yes));
  json.text("rule", policy::describe(report.route().policy.idempotent));
  if (told.judgement.because == nullptr) {
    json.word("because", "null");
  } else {
    json.text("because", policy::describe(*told.judgement.because));
  }
  json.close('}');
}

void write_verdict(std::string_view key, const policy::Verdict& verdict, JsonWriter& json) {
  json.open(key, '{');
  json.word("retry", yes_or_no(verdict.retry));
  json.text("reason", policy::word(verdict.reason));
  json.text("meaning", policy::meaning(verdict.reason));
  json.span("delay_ms", verdict.delay);
  json.close('}');
}

void write_course(std::string_view key, const Course& course, JsonWriter& json) {
  json.open(key, '{');
  write_verdict("first", course.first_verdict, json);
  json.number("last_attempt", course.last.number);
  json.span("ended_ms", course.last_ended);
  json.word("endless", yes_or_no(course.endless));
  write_verdict("last", course.last_verdict, json);
  json.close('}');
}

void write_waits(const Explanation& told, JsonWriter& json) {
  json.open("waits", '[');
  for (const PlannedWait& wait : told.waits) {
    json.open("", '{');
    json.number("after", wait.after);
    json.span("lowest_ms", wait.lowest);
    json.span("highest_ms", wait.highest);
    json.span("earliest_ms", wait.earliest);
    json.span("latest_ms", wait.latest);
    json.close('}');
  }
  json.close(']');
  json.word("waits_left_out", yes_or_no(told.waits_left_out));
}

void write_hedge(const ExplainReport& report, JsonWriter& json) {
  const auto& after = report.route().policy.hedge->after;
  json.open("hedge", '{');
  if (after) {
    json.span("after_ms", *after);
  } else {
    json.text("after_ms", "p95");
  }
  json.text("reason", policy::word(*report.explanation.hedge));
  json.close('}');
}

void write_texts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& json) {
  json.open(key, '[');
  for (const std::string& text : texts) json.text("", text);
  json.close(']');
}

}  // namespace

std::string to_json(const ExplainReport& report) {
  const Explanation& told = report.explanation;
  const policy::RoutePolicy& policy = report.route().policy;
  std::string out;
  JsonWriter json(out);
  json.open("", '{');
  if (!report.https.empty()) write_texts("https", report.https, json);
  json.text("method", report.method);
  json.text("url", report.url);
  json.text("settings", report.settings.empty() ? report.file : report.settings);
  json.text("assumed", report.assumed);
  write_route(report, json);
  write_judgement(report, json);
  json.number("attempt", told.lowest.first.number);
  write_waits(told, json);
  if (policy.retry.deadline) {
    json.span("deadline_ms", *policy.retry.deadline);
  } else {
    json.word("deadline_ms", "null");
  }
  if (policy::host_parts(policy).budget) {
    json.number("budget_left", static_cast<std::uint64_t>(told.lowest.first_budget_left));
  } else {
    json.word("budget_left", "null");
  }
  if (told.hedge) write_hedge(report, json);
  json.open("limits", '{');
  for (const ReportedLimit& limit : limits_of(report)) json.text(limit.name, limit.text);
  json.close('}');
  write_texts("held_back", held_back(report), json);
  json.open("courses", '{');
  write_course("shortest_waits", told.lowest, json);
  write_course("longest_waits", told.highest, json);
  json.close('}');
  json.word("resumes", yes_or_no(told.resumes));
  if (told.resumes) write_texts("resume_validators", policy.resume.validators, json);
  json.text("client_gets", client_gets(report));
  write_texts("to_change", advices(report), json);
  write_texts("notes", report.notes, json);
  json.close('}');
  return out += '\n';
}

}  // namespace reprise::tools
