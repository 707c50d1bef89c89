#include <cmath>

#include "proxy/cli/telling.hpp"
#include "proxy/observe/json_text.hpp"
#include "proxy/observe/line_parts.hpp"
#include "proxy/policy/advice.hpp"

namespace reprise::cli {
namespace {

using policy::Course;
using policy::Duration;

/// An object or a list that is being written: commas come by themselves.
class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  void open(std::string_view key, char bracket) {
    begin(key);
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    observe::append_json(out_, value);
  }
  void number(std::string_view key, std::uint64_t value) {
    begin(key);
    observe::append_number(out_, value);
  }
  void span(std::string_view key, Duration value) {
    begin(key);
    observe::append_milliseconds(out_, value);
  }
  /// `true`, `false` or `null`.
  void word(std::string_view key, std::string_view value) {
    begin(key);
    out_ += value;
  }

 private:
  void begin(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    if (key.empty()) return;
    observe::append_json(out_, key);
    out_ += ": ";
  }

  std::string& out_;
  bool first_ = true;
};

std::string_view yes_or_no(bool value) { return value ? "true" : "false"; }

void write_route(const Telling& telling, Json& json) {
  const policy::Route& route = telling.route();
  json.open("route", '{');
  json.text("name", route.name);
  json.text("place", place_of(route, telling.file));
  json.close('}');
  json.open("passed_over", '[');
  for (const policy::PassedOver& passed : telling.explanation.passed_over) {
    json.open("", '{');
    json.text("route", (*telling.routes)[passed.route].name);
    json.text("why", policy::word(passed.why));
    json.close('}');
  }
  json.close(']');
}

void write_judgement(const Telling& telling, Json& json) {
  const policy::Explanation& told = telling.explanation;
  json.open("idempotent", '{');
  json.word("verdict", yes_or_no(told.facts.idempotent == policy::Idempotency::yes));
  json.text("rule", policy::describe(telling.route().policy.idempotent));
  if (told.judgement.because == nullptr) {
    json.word("because", "null");
  } else {
    json.text("because", policy::describe(*told.judgement.because));
  }
  json.close('}');
}

void write_verdict(std::string_view key, const policy::Verdict& verdict, Json& json) {
  json.open(key, '{');
  json.word("retry", yes_or_no(verdict.retry));
  json.text("reason", policy::word(verdict.reason));
  json.text("meaning", policy::meaning(verdict.reason));
  json.span("delay_ms", verdict.delay);
  json.close('}');
}

void write_course(std::string_view key, const Course& course, Json& json) {
  json.open(key, '{');
  write_verdict("first", course.first_verdict, json);
  json.number("last_attempt", course.last.number);
  json.span("ended_ms", course.last_ended);
  json.word("endless", yes_or_no(course.endless));
  write_verdict("last", course.last_verdict, json);
  json.close('}');
}

void write_waits(const policy::Explanation& told, Json& json) {
  json.open("waits", '[');
  for (const policy::PlannedWait& wait : told.waits) {
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

void write_hedge(const Telling& telling, Json& json) {
  const auto& after = telling.route().policy.hedge->after;
  json.open("hedge", '{');
  if (after) {
    json.span("after_ms", *after);
  } else {
    json.text("after_ms", "p95");
  }
  json.text("reason", policy::word(hedge_verdict(telling)));
  json.close('}');
}

void write_texts(std::string_view key, const std::vector<std::string>& texts, Json& json) {
  json.open(key, '[');
  for (const std::string& text : texts) json.text("", text);
  json.close(']');
}

}  // namespace

std::string to_json(const Telling& telling) {
  const policy::Explanation& told = telling.explanation;
  const policy::RoutePolicy& policy = telling.route().policy;
  std::string out;
  Json json(out);
  json.open("", '{');
  json.text("method", telling.method);
  json.text("url", telling.url);
  json.text("assumed", telling.assumed);
  write_route(telling, json);
  write_judgement(telling, json);
  json.number("attempt", told.lowest.first.number);
  write_waits(told, json);
  if (policy.retry.deadline) {
    json.span("deadline_ms", *policy.retry.deadline);
  } else {
    json.word("deadline_ms", "null");
  }
  if (policy.budget) {
    json.number("budget_left", static_cast<std::uint64_t>(told.lowest.first_budget_left));
  } else {
    json.word("budget_left", "null");
  }
  if (is_hedged(telling)) write_hedge(telling, json);
  json.open("limits", '{');
  for (const ToldLimit& limit : limits_of(telling)) json.text(limit.name, limit.text);
  json.close('}');
  write_texts("held_back", held_back(telling), json);
  json.open("courses", '{');
  write_course("shortest_waits", told.lowest, json);
  write_course("longest_waits", told.highest, json);
  json.close('}');
  json.word("resumes", yes_or_no(told.resumes));
  if (told.resumes) write_texts("resume_validators", policy.resume.validators, json);
  json.text("client_gets", client_gets(telling));
  write_texts("to_change", advices(telling), json);
  write_texts("notes", telling.notes, json);
  json.close('}');
  return out += '\n';
}

}  // namespace reprise::cli
