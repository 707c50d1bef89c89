// What a running proxy says of itself.
#include <algorithm>
#include <functional>
#include <map>

#include "config/keys/scalar.hpp"
#include "config/reference/running.hpp"
#include "proxy/forward/worker/certificate_ends.hpp"
#include "proxy/server/process/gauges.hpp"
#include "proxy/server/process/parts.hpp"
#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::server {
namespace {

using UpstreamFacts = telemetry::StatusFacts::Upstream;

// One entry for each name, and no more of them than people can read: what is out of order comes first.
class UpstreamList {
 public:
  /// Null where there is no room for another.
  UpstreamFacts* at(std::string_view name) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return &known->second;
    if (by_name_.size() >= most) return nullptr;
    UpstreamFacts& fresh = by_name_[std::string(name)];
    fresh.name = name;
    return &fresh;
  }
  UpstreamFacts* find(std::string_view name) {
    const auto known = by_name_.find(name);
    return known == by_name_.end() ? nullptr : &known->second;
  }
  std::vector<UpstreamFacts> take() {
    std::vector<UpstreamFacts> all;
    for (auto& [name, facts] : by_name_) all.push_back(std::move(facts));
    return all;
  }

 private:
  static constexpr std::size_t most = 128;
  std::map<std::string, UpstreamFacts, std::less<>> by_name_;
};

}  // namespace

std::vector<UpstreamFacts> Proxy::Parts::upstream_facts() {
  UpstreamList list;
  const policy::Instant time = net::Tick::now();
  std::map<std::string, policy::Circuit::State> circuits;  // the worst of each host's
  host_guards.each(time, [&](std::string_view host_port, policy::Circuit::State state) {
    auto& worst = circuits.try_emplace(std::string(host_port), state).first->second;
    worst = std::max(worst, state);
  });
  for (const auto& [host_port, state] : circuits) {
    if (state != policy::Circuit::State::closed) list.at(host_port);
  }
  host_guards.each_pause(time, [&](std::string_view host_port, policy::Instant until) {
    UpstreamFacts* const upstream = list.at(host_port);
    if (upstream != nullptr) upstream->pause_seconds = std::chrono::duration<double>(until - time).count();
  });
  budgets.each(time, [&](std::string_view host_port, double ratio) {
    UpstreamFacts* const upstream = ratio < 1 ? list.at(host_port) : nullptr;
    if (upstream != nullptr) upstream->budget_left = std::min(ratio, upstream->budget_left.value_or(1));
  });
  for (telemetry::Metrics::UpstreamTotals& totals : metrics.upstream_totals(time)) {
    UpstreamFacts* const upstream = list.at(totals.name);
    if (upstream == nullptr) continue;
    upstream->attempts = std::move(totals.attempts);
    upstream->last_minute = std::move(totals.last_minute);
  }
  for (const auto& [host_port, state] : circuits) {
    if (UpstreamFacts* const upstream = list.find(host_port)) upstream->circuit = state;
  }
  return list.take();
}

telemetry::StatusFacts Proxy::Parts::status_facts(const Current& in_force) {
  const config::Settings& settings = in_force.snapshot->settings;
  telemetry::StatusFacts facts;
  facts.version = options.version;
  facts.config_file = options.config_file;
  facts.config_hash = in_force.hash;
  facts.started_unix = started_unix;
  facts.now_unix = net::Clock::wall_nanoseconds() / 1'000'000'000;
  facts.clock_seconds = std::chrono::duration<double>(net::Tick::now().time_since_epoch()).count();
  facts.limits = {options.limits.memory_bytes, options.limits.memory_file, options.limits.cpus,
                  options.limits.cpu_file,
                  text_of(options.limits) + "; held request bodies " +
                      config::size_text(settings.limits.replay_memory_bytes)};
  facts.ready = ready;
  facts.draining = stopping || leaving;
  const auto& bound = in_force.listeners->all();
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const bool is_admin = i == settings.listeners.size();
    facts.listeners.push_back(forward::describe(
        is_admin ? "admin" : forward::word(settings.listeners[i].mode), bound[i]->endpoint));
  }
  for (const std::size_t number : in_force.snapshot->counted_as)
    facts.routes.push_back(metrics.totals_of(number));
  // Those that nobody draws on are full, and many.
  constexpr std::size_t most_budgets = 64;
  budgets.each(net::Tick::now(), [&](std::string_view host_port, double ratio) {
    if (ratio < 1 && facts.budgets.size() < most_budgets) facts.budgets.emplace_back(host_port, ratio);
  });
  facts.upstreams = upstream_facts();
  facts.unread = metrics.unread_hosts();
  if (in_force.last.unix_time != 0) {
    facts.reload = telemetry::StatusFacts::Reload{in_force.last.succeeded, in_force.last.unix_time, {}};
    if (!in_force.last.succeeded) facts.reload->errors = in_force.last.words;
  }
  return facts;
}

void Proxy::Parts::add_minute(telemetry::StatusFacts& facts, const Current& in_force) const {
  const policy::Instant time = net::Tick::now();
  telemetry::StatusMinute& minute = facts.minute.emplace();
  minute.seconds = telemetry::seconds_lived(started, time);
  for (const std::size_t number : in_force.snapshot->counted_as)
    minute.routes.push_back(metrics.last_minute_of(number, time));
}

std::string Proxy::Parts::status() {
  const Current in_force = now();
  telemetry::StatusFacts facts = status_facts(in_force);
  add_minute(facts, in_force);
  return telemetry::status_json(facts, in_force.snapshot->settings, metrics.totals());
}

std::string Proxy::Parts::status_words() {
  const Current in_force = now();
  const telemetry::StatusFacts facts = status_facts(in_force);
  return telemetry::status_text(facts, in_force.snapshot->settings, metrics.totals());
}

std::vector<WatchedFile> Proxy::Parts::watched_files() const {
  Current in_force = now();
  if (!in_force.snapshot->settings.reload.watch) return {};
  return std::move(in_force.files);
}

std::string Proxy::Parts::effective_configuration() {
  const Current in_force = now();
  return config::running_text(in_force.snapshot->settings, options.config_file, in_force.hash);
}

std::string Proxy::Parts::metrics_text(telemetry::Exposition form) {
  set_gauges(metrics, budgets, host_guards);
  metrics.set_log_dropped(log.dropped());
  forward::set_certificate_gauges(metrics, now().snapshot->certificate_ends,
                                  net::Clock::wall_nanoseconds() / 1'000'000'000);
  return metrics.text(form);
}

}  // namespace reprise::server
