#include "proxy/tools/simulate/report/report_json.hpp"

#include <cstdint>
#include <utility>

#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::tools {
namespace {

using telemetry::in_milliseconds;
using telemetry::milliseconds_or_null;

// Rounds a fraction or a rate to six decimals.
double share(double value) {
  constexpr int decimals = 6;
  return telemetry::rounded(value, decimals);
}

json::object latency_of(const Histogram& latency) {
  return {{"mean", milliseconds_or_null(latency.mean())},
          {"p50", milliseconds_or_null(latency.percentile(0.5))},
          {"p90", milliseconds_or_null(latency.percentile(0.9))},
          {"p99", milliseconds_or_null(latency.percentile(0.99))},
          {"p999", milliseconds_or_null(latency.percentile(0.999))},
          {"highest", milliseconds_or_null(latency.percentile(1))}};
}

json::object ends_of(const Measures& measures) {
  json::object all;
  for (const policy::Reason reason : policy::all_reasons()) {
    const std::uint64_t count = measures.ended[static_cast<std::size_t>(reason)];
    if (count > 0) all[policy::word(reason)] = count;
  }
  return all;
}

json::array steps_of(const Measures& measures) {
  json::array all;
  for (const Step& step : measures.steps) {
    const double amplification =
        step.requests == 0 ? 0 : static_cast<double>(step.attempts) / static_cast<double>(step.requests);
    all.push_back({{"requests", step.requests},
                   {"succeeded", step.succeeded},
                   {"attempts", step.attempts},
                   {"amplification", share(amplification)},
                   {"budget_left", share(step.budget)}});
  }
  return all;
}

void add_measures(json::object& out, const Measures& measures) {
  out["requests"] = measures.requests;
  out["succeeded"] = measures.succeeded;
  out["success"] = share(measures.success_share());
  out["attempts"] = measures.attempts;
  out["retries"] = measures.retries;
  out["hedges"] = measures.hedges;
  out["amplification"] = share(measures.amplification());
  out["peak_attempts_per_second"] = share(measures.peak_load());
  out["latency_ms"] = latency_of(measures.latency);
  out["latency_of_all_ms"] = latency_of(measures.latency_of_all);
  out["recovered_ms"] = milliseconds_or_null(measures.recovered);
  out["lowest_budget_left"] = share(measures.lowest_budget());
  out["turned_away_by_full_queue"] = measures.refused;
  out["turned_away_by_limit"] = measures.limited;
  out["served_in_vain"] = measures.wasted;
  out["unfinished"] = measures.unfinished;
  out["no_room"] = measures.turned_away;
  out["ended"] = ends_of(measures);
  out["step_ms"] = in_milliseconds(measures.step);
  out["steps"] = steps_of(measures);
}

json::object compared(const Compared& one, const Report& report) {
  json::object out{{"policy", one.name}, {"is", one.sentence}};
  add_measures(out, one.measures);
  if (report.replayed) {
    out["decided_by_log"] = one.measures.decided_by_log;
    out["assumed_attempts"] = one.measures.assumed;
    out["rule_not_in_log"] = one.measures.unknown_rule;
  }
  if (one.best_case) add_measures(out["if_unknown_attempts_succeed"].emplace_object(), *one.best_case);
  return out;
}

}  // namespace

std::string to_json(const Report& report) {
  json::object premises;
  for (const Premises& premise : premises_of(report)) premises[premise.what] = premise.text;
  json::array policies;
  for (const Compared& one : report.compared) policies.push_back(compared(one, report));
  json::object out{
      {"version", 1}, {"premises", std::move(premises)}, {"duration_ms", in_milliseconds(report.duration)}};
  if (report.model) out["seed"] = report.model->seed;
  out["policies"] = std::move(policies);
  out["remarks"] = telemetry::list_of(remarks_on(report));
  return telemetry::document_text(out) + "\n";
}

}  // namespace reprise::tools
