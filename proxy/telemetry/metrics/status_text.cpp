#include "proxy/telemetry/metrics/status_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

std::string uptime_text(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(0, seconds);
  const std::int64_t days = seconds / 86400;
  std::string text = days > 0 ? fmt::format("{}d ", days) : std::string();
  return text + fmt::format("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
}

std::string ago_text(const StatusFacts& facts) {
  return uptime_text(facts.now_unix - facts.reload->unix_time) + " ago";
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "{:<10}  {}\n", name, value);
}

// Returns advice on how reprise can read the requests to that host.
std::string hint_of(const UnreadHost& host) {
  if (host.name == "other") return {};
  const std::string origination = "http:// and tls: originate";
  return " (" + (host.intercept.empty() ? "" : "--intercept " + host.intercept + ", or ") + origination + ")";
}

void append_reload_lines(std::string& out, const StatusFacts& facts) {
  if (!facts.reload) return append_line(out, "reload", "none since the start");
  if (facts.reload->succeeded) return append_line(out, "reload", "succeeded " + ago_text(facts));
  append_line(out, "reload", "FAILED " + ago_text(facts) + ", keeping the previous configuration");
  for (const std::string& error : facts.reload->errors) append_line(out, "", error);
}

void append_tunnels(std::string& out, const StatusFacts& facts, const Metrics::Totals& totals) {
  append_line(out, "tunnels", fmt::format("{} ended, not counted as requests", totals.tunnels));
  std::string_view heading = "unread";
  for (const UnreadHost& host : facts.unread) {
    append_line(out, std::exchange(heading, ""),
                fmt::format("HTTPS to {}: {} tunnel{}{}", host.name, host.tunnels,
                            host.tunnels == 1 ? "" : "s", hint_of(host)));
  }
}

void append_routes(std::string& out, const StatusFacts& facts, const config::Settings& settings) {
  std::size_t widest = 5;
  for (std::size_t i = 0; i < facts.routes.size(); ++i)
    widest = std::max(widest, (*settings.routes)[i].name.size());
  fmt::format_to(std::back_inserter(out), "\n{:<{}}  {:>10} {:>10} {:>10} {:>10}  refused\n", "route", widest,
                 "requests", "retries", "recovered", "exhausted");
  for (std::size_t i = 0; i < facts.routes.size(); ++i) {
    const Metrics::RouteTotals& totals = facts.routes[i];
    std::string refused;
    for (const auto& [reason, count] : totals.refused)
      refused.append(refused.empty() ? "" : ", ").append(fmt::format("{} {}", reason, count));
    fmt::format_to(std::back_inserter(out), "{:<{}}  {:>10} {:>10} {:>10} {:>10}  {}\n",
                   (*settings.routes)[i].name, widest, totals.requests, totals.retries, totals.recovered,
                   totals.exhausted, refused.empty() ? "-" : refused);
  }
}

}  // namespace

std::string status_text(const StatusFacts& facts, const config::Settings& settings,
                        const Metrics::Totals& totals) {
  std::string out;
  append_line(out, "reprise",
              std::string(facts.version) + ", up " + uptime_text(facts.now_unix - facts.started_unix));
  append_line(out, "state", facts.draining ? "draining" : (facts.ready ? "ready" : "not ready"));
  append_line(out, "config",
              facts.config_file.empty() ? "built-in defaults"
                                        : fmt::format("{}, hash {}", facts.config_file, facts.config_hash));
  append_line(out, "limits", facts.limits.words);
  append_reload_lines(out, facts);
  for (const std::string& listener : facts.listeners)
    append_line(out, &listener == &facts.listeners.front() ? "listening" : "", listener);
  append_line(out, "clients", std::to_string(totals.client_connections));
  append_line(out, "rejected", std::to_string(totals.rejected));
  append_tunnels(out, facts, totals);
  for (const auto& [upstream, left] : facts.budgets)
    append_line(out, &upstream == &facts.budgets.front().first ? "budget" : "",
                fmt::format("{}: {:.0f} % left", upstream, 100 * left));
  append_routes(out, facts, settings);
  out.pop_back();
  return out;
}

}  // namespace reprise::telemetry
