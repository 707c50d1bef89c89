#include "proxy/telemetry/metrics/status.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::telemetry {
namespace {

std::string_view word(policy::Mode mode) {
  switch (mode) {
    case policy::Mode::active: return "active";
    case policy::Mode::observe: return "observe";
    case policy::Mode::off: break;
  }
  return "off";
}

json::object counts_of(const Metrics::Counts& counts) { return {counts.begin(), counts.end()}; }

json::object route_of(const policy::Route& route) {
  const policy::RetryPolicy& retry = route.policy.retry;
  json::object out{{"name", route.name},
                   {"line", route.line},
                   {"mode", word(route.policy.mode)},
                   {"max_attempts", or_null(retry.max_attempts)},
                   {"deadline_seconds", nullptr},
                   {"idempotent", policy::describe(route.policy.idempotent)}};
  if (retry.deadline) out["deadline_seconds"] = std::chrono::duration<double>(*retry.deadline).count();
  return out;
}

void add_totals(json::object& out, const Metrics::RouteTotals& totals) {
  out["requests"] = totals.requests;
  out["retries"] = totals.retries;
  out["recovered"] = totals.recovered;
  out["exhausted"] = totals.exhausted;
  out["refused"] = counts_of(totals.refused);
  out["responses"] = counts_of(totals.responses);
  out["durations"] = json::array(totals.durations.begin(), totals.durations.end());
}

// Adds only the numbers above 0, because most numbers of most seconds are 0.
void add_numbers(json::object& out, const RouteNumbers& numbers) {
  const auto add = [&out](std::string_view name, std::uint32_t number) {
    if (number > 0) out[name] = number;
  };
  add("requests", numbers.requests);
  add("failed", numbers.failed);
  add("client_gone", numbers.client_gone);
  add("retries", numbers.retries);
  add("recovered", numbers.recovered);
  add("refused", numbers.refused);
  auto end = numbers.durations.end();
  while (end != numbers.durations.begin() && *(end - 1) == 0) --end;
  if (end != numbers.durations.begin()) out["durations"] = json::array(numbers.durations.begin(), end);
}

void add_numbers(json::object& out, const AttemptNumbers& numbers) {
  out["attempts"] = numbers.attempts;
  if (numbers.failed > 0) out["failed"] = numbers.failed;
}

template <typename Numbers>
json::array minute_of(const std::vector<CountedSecond<Numbers>>& minute) {
  json::array out;
  for (const CountedSecond<Numbers>& one : minute) {
    json::object second{{"clock", one.second}};
    add_numbers(second, one.numbers);
    out.push_back(std::move(second));
  }
  return out;
}

json::array routes_of(const StatusFacts& facts, const config::Settings& settings, const RouteChoice& chosen) {
  json::array out;
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    if (i < chosen.size() && !chosen[i]) continue;
    json::object route = route_of((*settings.routes)[i]);
    if (i < facts.routes.size()) add_totals(route, facts.routes[i]);
    if (facts.minute && i < facts.minute->routes.size())
      route["last_minute"] = minute_of(facts.minute->routes[i]);
    out.push_back(std::move(route));
  }
  return out;
}

constexpr int decimals = 3;

json::array upstreams_of(const StatusFacts& facts) {
  json::array out;
  for (const StatusFacts::Upstream& upstream : facts.upstreams) {
    json::object one{{"name", upstream.name}, {"attempts", counts_of(upstream.attempts)}};
    if (upstream.budget_left) one["budget_left"] = rounded(*upstream.budget_left, decimals);
    if (upstream.circuit)
      one["circuit"] = policy::names_of<policy::Circuit::State>[static_cast<std::size_t>(*upstream.circuit)];
    if (upstream.pause_seconds) one["pause_seconds"] = rounded(*upstream.pause_seconds, decimals);
    if (facts.minute) one["last_minute"] = minute_of(upstream.last_minute);
    out.push_back(std::move(one));
  }
  return out;
}

json::array unread_of(const StatusFacts& facts) {
  json::array out;
  for (const UnreadHost& host : facts.unread)
    out.push_back({{"name", host.name}, {"tunnels", host.tunnels}, {"intercept", or_null(host.intercept)}});
  return out;
}

json::value reload_of(const StatusFacts& facts) {
  if (!facts.reload) return nullptr;
  return {{"outcome", word(facts.reload->succeeded ? ReloadOutcome::success : ReloadOutcome::failed)},
          {"time", facts.reload->unix_time},
          {"errors", list_of(facts.reload->errors)}};
}

template <typename Number>
void add_limit(json::object& out, std::string_view name, const std::optional<Number>& limit,
               std::string_view file_name, const std::string& file) {
  out[name] = or_null(limit);
  out[file_name] = limit ? json::value(file) : json::value();
}

json::object limits_of(const StatusFacts::Limits& limits, const config::Settings& settings) {
  json::object out;
  add_limit(out, "memory_bytes", limits.memory_bytes, "memory_file", limits.memory_file);
  add_limit(out, "cpus", limits.cpus, "cpu_file", limits.cpu_file);
  out["replay_memory_bytes"] = settings.limits.replay_memory_bytes;
  return out;
}

json::object budgets_of(const StatusFacts& facts) {
  json::object out;
  for (const auto& [upstream, left] : facts.budgets) out[upstream] = rounded(left, decimals);
  return out;
}

json::object totals_of(const Metrics::Totals& totals) {
  return {{"requests", totals.requests},
          {"attempts", totals.attempts},
          {"retries", totals.retries},
          {"recovered", totals.recovered},
          {"exhausted", totals.exhausted},
          {"rejected", totals.rejected},
          {"tunnels", totals.tunnels},
          {"client_connections", totals.client_connections},
          {"upstream_connections", {{"active", totals.upstream_active}, {"idle", totals.upstream_idle}}},
          {"upstream_http2", {{"connections", totals.http2_connections}, {"streams", totals.http2_streams}}}};
}

}  // namespace

std::int64_t seconds_lived(policy::Instant started, policy::Instant now) {
  using std::chrono::seconds;
  const seconds begun = std::chrono::floor<seconds>(now) - std::chrono::floor<seconds>(started) + seconds(1);
  return std::clamp<std::int64_t>(begun.count(), 1, LastMinute<RouteNumbers>::seconds);
}

std::string status_json(const StatusFacts& facts, const config::Settings& settings,
                        const Metrics::Totals& totals, const RouteChoice& chosen) {
  json::object out{{"version", facts.version},
                   {"started", facts.started_unix},
                   {"uptime_seconds", std::max<std::int64_t>(0, facts.now_unix - facts.started_unix)},
                   {"clock", rounded(facts.clock_seconds, decimals)},
                   {"ready", facts.ready},
                   {"draining", facts.draining},
                   {"config", {{"file", or_null(facts.config_file)}, {"hash", facts.config_hash}}},
                   {"threads", settings.threads},
                   {"limits", limits_of(facts.limits, settings)}};
  if (facts.minute) out["last_minute_seconds"] = facts.minute->seconds;
  const auto bounds = Metrics::duration_bounds();
  out["listeners"] = list_of(facts.listeners);
  out["duration_bounds"] = json::array(bounds.begin(), bounds.end());
  out["routes"] = routes_of(facts, settings, chosen);
  out["budgets"] = budgets_of(facts);
  out["upstreams"] = upstreams_of(facts);
  out["unread"] = unread_of(facts);
  out["reload"] = reload_of(facts);
  out["totals"] = totals_of(totals);
  return document_text(out) + "\n";
}

}  // namespace reprise::telemetry
