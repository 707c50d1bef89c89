#include "proxy/telemetry/metrics/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "proxy/telemetry/log/json_text.hpp"

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

std::string json_quoted(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

void append_route(std::string& out, const policy::Route& route) {
  const policy::RetryPolicy& retry = route.policy.retry;
  auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"name":{},"line":{},"mode":"{}","max_attempts":)", json_quoted(route.name),
                 route.line, word(route.policy.mode));
  if (retry.max_attempts) {
    fmt::format_to(to, "{}", *retry.max_attempts);
  } else {
    out += "null";
  }
  out += R"(,"deadline_seconds":)";
  if (retry.deadline) {
    fmt::format_to(to, "{}", std::chrono::duration<double>(*retry.deadline).count());
  } else {
    out += "null";
  }
  fmt::format_to(to, R"(,"idempotent":{})", json_quoted(policy::describe(route.policy.idempotent)));
}

void append_counts(std::string& out, std::string_view member, const Metrics::Counts& counts) {
  fmt::format_to(std::back_inserter(out), R"(,"{}":{{)", member);
  const char* separator = "";
  for (const auto& [word, count] : counts) {
    fmt::format_to(std::back_inserter(out), R"({}"{}":{})", separator, word, count);
    separator = ",";
  }
  out += '}';
}

void append_route_totals(std::string& out, const Metrics::RouteTotals& totals) {
  fmt::format_to(std::back_inserter(out), R"(,"requests":{},"retries":{},"recovered":{},"exhausted":{})",
                 totals.requests, totals.retries, totals.recovered, totals.exhausted);
  append_counts(out, "refused", totals.refused);
  append_counts(out, "responses", totals.responses);
  fmt::format_to(std::back_inserter(out), R"(,"durations":[{}])", fmt::join(totals.durations, ","));
}

// Writes only numbers above 0: most numbers of most seconds are 0.
void append_numbers(std::string& out, const RouteNumbers& numbers) {
  const auto add = [&out](std::string_view name, std::uint32_t number) {
    if (number > 0) fmt::format_to(std::back_inserter(out), R"(,"{}":{})", name, number);
  };
  add("requests", numbers.requests);
  add("failed", numbers.failed);
  add("client_gone", numbers.client_gone);
  add("retries", numbers.retries);
  add("recovered", numbers.recovered);
  add("refused", numbers.refused);
  auto end = numbers.durations.end();
  while (end != numbers.durations.begin() && *(end - 1) == 0) --end;
  if (end != numbers.durations.begin())
    fmt::format_to(std::back_inserter(out), R"(,"durations":[{}])",
                   fmt::join(numbers.durations.begin(), end, ","));
}

void append_numbers(std::string& out, const AttemptNumbers& numbers) {
  fmt::format_to(std::back_inserter(out), R"(,"attempts":{})", numbers.attempts);
  if (numbers.failed > 0) fmt::format_to(std::back_inserter(out), R"(,"failed":{})", numbers.failed);
}

template <typename Numbers>
void append_minute(std::string& out, const std::vector<CountedSecond<Numbers>>& minute) {
  out += R"(,"last_minute":[)";
  const char* separator = "";
  for (const CountedSecond<Numbers>& one : minute) {
    fmt::format_to(std::back_inserter(out), R"({}{{"clock":{})", std::exchange(separator, ","), one.second);
    append_numbers(out, one.numbers);
    out += '}';
  }
  out += ']';
}

void append_upstream(std::string& out, const StatusFacts::Upstream& upstream, bool with_minute) {
  fmt::format_to(std::back_inserter(out), R"({{"name":{})", json_quoted(upstream.name));
  append_counts(out, "attempts", upstream.attempts);
  if (upstream.budget_left)
    fmt::format_to(std::back_inserter(out), R"(,"budget_left":{:.3f})", *upstream.budget_left);
  if (upstream.circuit)
    fmt::format_to(std::back_inserter(out), R"(,"circuit":"{}")",
                   policy::names_of<policy::Circuit::State>[static_cast<std::size_t>(*upstream.circuit)]);
  if (upstream.pause_seconds)
    fmt::format_to(std::back_inserter(out), R"(,"pause_seconds":{:.3f})", *upstream.pause_seconds);
  if (with_minute) append_minute(out, upstream.last_minute);
  out += '}';
}

void append_upstreams(std::string& out, const StatusFacts& facts) {
  out += R"("upstreams":[)";
  for (const StatusFacts::Upstream& upstream : facts.upstreams) {
    if (&upstream != &facts.upstreams.front()) out += ',';
    append_upstream(out, upstream, facts.minute.has_value());
  }
  out += ']';
}

void append_unread(std::string& out, const StatusFacts& facts) {
  out += R"("unread":[)";
  for (const UnreadHost& host : facts.unread) {
    if (&host != &facts.unread.front()) out += ',';
    fmt::format_to(std::back_inserter(out), R"({{"name":{},"tunnels":{},"intercept":{}}})",
                   json_quoted(host.name), host.tunnels,
                   host.intercept.empty() ? "null" : json_quoted(host.intercept));
  }
  out += ']';
}

void append_reload(std::string& out, const StatusFacts& facts) {
  out += R"("reload":)";
  if (!facts.reload) {
    out += "null";
    return;
  }
  fmt::format_to(std::back_inserter(out), R"({{"outcome":"{}","time":{},"errors":[)",
                 word(facts.reload->succeeded ? ReloadOutcome::success : ReloadOutcome::failed),
                 facts.reload->unix_time);
  for (const std::string& error : facts.reload->errors) {
    if (&error != &facts.reload->errors.front()) out += ',';
    append_json(out, error);
  }
  out += "]}";
}

template <typename Number>
void append_limit(std::string& out, std::string_view name, const std::optional<Number>& limit,
                  std::string_view file_name, const std::string& file) {
  const std::string value = limit ? fmt::format("{}", *limit) : "null";
  fmt::format_to(std::back_inserter(out), R"("{}":{},"{}":{},)", name, value, file_name,
                 limit ? json_quoted(file) : "null");
}

void append_limits(std::string& out, const StatusFacts::Limits& limits, const config::Settings& settings) {
  out += R"("limits":{)";
  append_limit(out, "memory_bytes", limits.memory_bytes, "memory_file", limits.memory_file);
  append_limit(out, "cpus", limits.cpus, "cpu_file", limits.cpu_file);
  fmt::format_to(std::back_inserter(out), R"("replay_memory_bytes":{}}})",
                 settings.limits.replay_memory_bytes);
}

void append_budgets(std::string& out, const StatusFacts& facts) {
  out += R"("budgets":{)";
  for (const auto& [upstream, left] : facts.budgets) {
    if (upstream != facts.budgets.front().first) out += ',';
    fmt::format_to(std::back_inserter(out), "{}:{:.3f}", json_quoted(upstream), left);
  }
  out += '}';
}

void append_totals(std::string& out, const Metrics::Totals& totals) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"requests":{},"attempts":{},"retries":{},"recovered":{},"exhausted":{},"rejected":{},)"
                 R"("tunnels":{},"client_connections":{},"upstream_connections":{{"active":{},"idle":{}}}}})",
                 totals.requests, totals.attempts, totals.retries, totals.recovered, totals.exhausted,
                 totals.rejected, totals.tunnels, totals.client_connections, totals.upstream_active,
                 totals.upstream_idle);
}

}  // namespace

std::int64_t seconds_lived(policy::Instant started, policy::Instant now) {
  using std::chrono::seconds;
  const seconds begun = std::chrono::floor<seconds>(now) - std::chrono::floor<seconds>(started) + seconds(1);
  return std::clamp<std::int64_t>(begun.count(), 1, LastMinute<RouteNumbers>::seconds);
}

std::string status_json(const StatusFacts& facts, const config::Settings& settings,
                        const Metrics::Totals& totals, const RouteChoice& chosen) {
  std::string out;
  fmt::format_to(std::back_inserter(out),
                 R"({{"version":{},"started":{},"uptime_seconds":{},"clock":{:.3f},"ready":{},"draining":{},)"
                 R"("config":{{"file":{},"hash":{}}},"threads":{},)",
                 json_quoted(facts.version), facts.started_unix,
                 std::max<std::int64_t>(0, facts.now_unix - facts.started_unix), facts.clock_seconds,
                 boolean(facts.ready), boolean(facts.draining),
                 facts.config_file.empty() ? "null" : json_quoted(facts.config_file),
                 json_quoted(facts.config_hash), settings.threads);
  append_limits(out, facts.limits, settings);
  if (facts.minute)
    fmt::format_to(std::back_inserter(out), R"(,"last_minute_seconds":{})", facts.minute->seconds);
  out += R"(,"listeners":[)";
  for (const std::string& listener : facts.listeners) {
    if (&listener != &facts.listeners.front()) out += ',';
    append_json(out, listener);
  }
  fmt::format_to(std::back_inserter(out), R"(],"duration_bounds":[{}],"routes":[)",
                 fmt::join(Metrics::duration_bounds(), ","));
  const char* separator = "";
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    if (i < chosen.size() && !chosen[i]) continue;
    out += std::exchange(separator, ",");
    append_route(out, (*settings.routes)[i]);
    if (i < facts.routes.size()) append_route_totals(out, facts.routes[i]);
    if (facts.minute && i < facts.minute->routes.size()) append_minute(out, facts.minute->routes[i]);
    out += '}';
  }
  out += "],";
  append_budgets(out, facts);
  out += ',';
  append_upstreams(out, facts);
  out += ',';
  append_unread(out, facts);
  out += ',';
  append_reload(out, facts);
  out += R"(,"totals":)";
  append_totals(out, totals);
  out += "}\n";
  return out;
}

}  // namespace reprise::telemetry
