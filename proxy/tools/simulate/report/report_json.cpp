// Writes the report as JSON, for programs.
#include <fmt/format.h>

#include "proxy/telemetry/log/json_writer.hpp"
#include "proxy/tools/simulate/report/report.hpp"

namespace reprise::tools {
namespace {

using telemetry::JsonWriter;

void write_latency(std::string_view key, const Histogram& latency, JsonWriter& json) {
  json.open(key, '{');
  json.span("mean", latency.mean());
  json.span("p50", latency.percentile(0.5));
  json.span("p90", latency.percentile(0.9));
  json.span("p99", latency.percentile(0.99));
  json.span("p999", latency.percentile(0.999));
  json.span("highest", latency.percentile(1));
  json.close('}');
}

void write_steps(const Measures& measures, JsonWriter& json) {
  json.span("step_ms", measures.step);
  json.open("steps", '[');
  for (const Step& step : measures.steps) {
    json.open("", '{');
    json.number("requests", step.requests);
    json.number("succeeded", step.succeeded);
    json.number("attempts", step.attempts);
    json.real("amplification", step.requests == 0
                                   ? 0
                                   : static_cast<double>(step.attempts) / static_cast<double>(step.requests));
    json.real("budget_left", step.budget);
    json.close('}');
  }
  json.close(']');
}

void write_measures(const Measures& measures, JsonWriter& json) {
  json.number("requests", measures.requests);
  json.number("succeeded", measures.succeeded);
  json.real("success", measures.success_share());
  json.number("attempts", measures.attempts);
  json.number("retries", measures.retries);
  json.number("hedges", measures.hedges);
  json.real("amplification", measures.amplification());
  json.real("peak_attempts_per_second", measures.peak_load());
  write_latency("latency_ms", measures.latency, json);
  write_latency("latency_of_all_ms", measures.latency_of_all, json);
  json.span("recovered_ms", measures.recovered);
  json.real("lowest_budget_left", measures.lowest_budget());
  json.number("turned_away_by_full_queue", measures.refused);
  json.number("turned_away_by_limit", measures.limited);
  json.number("served_in_vain", measures.in_vain);
  json.number("unfinished", measures.unfinished);
  json.number("no_room", measures.turned_away);
  json.open("ended", '{');
  for (const policy::Reason reason : policy::all_reasons()) {
    const std::uint64_t count = measures.ended[static_cast<std::size_t>(reason)];
    if (count > 0) json.number(policy::word(reason), count);
  }
  json.close('}');
  write_steps(measures, json);
}

void write_compared(const Compared& one, const Report& report, JsonWriter& json) {
  json.open("", '{');
  json.text("policy", one.name);
  json.text("is", one.sentence);
  write_measures(one.measures, json);
  if (report.replayed) {
    json.number("decided_by_log", one.measures.decided_by_log);
    json.number("assumed_attempts", one.measures.assumed);
    json.number("rule_not_in_log", one.measures.unknown_rule);
  }
  if (one.hopeful) {
    json.open("if_unknown_attempts_succeed", '{');
    write_measures(*one.hopeful, json);
    json.close('}');
  }
  json.close('}');
}

}  // namespace

std::string to_json(const Report& report) {
  std::string out;
  JsonWriter json(out);
  json.open("", '{');
  json.number("version", 1);
  json.open("premises", '{');
  for (const Premises& premise : premises_of(report)) json.text(premise.what, premise.text);
  json.close('}');
  json.span("duration_ms", report.duration);
  if (report.model) json.number("seed", report.model->seed);
  json.open("policies", '[');
  for (const Compared& one : report.compared) write_compared(one, report, json);
  json.close(']');
  json.open("remarks", '[');
  for (const std::string& remark : remarks_on(report)) json.text("", remark);
  json.close(']');
  json.close('}');
  return out + "\n";
}

}  // namespace reprise::tools
