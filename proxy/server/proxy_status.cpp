// What a running proxy says of itself.
#include "config/keys/scalar.hpp"
#include "proxy/observe/status.hpp"
#include "proxy/server/gauges.hpp"
#include "proxy/server/parts.hpp"

namespace reprise::net {

observe::StatusFacts Proxy::Parts::status_facts(const Current& in_force) {
  const config::Settings& settings = in_force.snapshot->settings;
  observe::StatusFacts facts;
  facts.version = options.version;
  facts.config_file = options.config_file;
  facts.config_hash = in_force.hash;
  facts.started_unix = started_unix;
  facts.now_unix = Clock::wall_nanoseconds() / 1'000'000'000;
  facts.limits = {options.limits.memory_bytes, options.limits.memory_file, options.limits.cpus,
                  options.limits.cpu_file,
                  cgroup::text_of(options.limits) + "; held request bodies " +
                      config::size_text(settings.limits.replay_memory_bytes)};
  facts.ready = ready;
  facts.draining = stopping || leaving;
  const auto& bound = in_force.listeners->all();
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const bool is_admin = i == settings.listeners.size();
    facts.listeners.push_back(
        describe(is_admin ? "admin" : word(settings.listeners[i].mode), bound[i]->endpoint));
  }
  for (const std::size_t number : in_force.snapshot->counted_as)
    facts.routes.push_back(metrics.totals_of(number));
  // Those that nobody draws on are full, and many.
  constexpr std::size_t most_budgets = 64;
  budgets.each(Tick::now(), [&](std::string_view host_port, double ratio) {
    if (ratio < 1 && facts.budgets.size() < most_budgets) facts.budgets.emplace_back(host_port, ratio);
  });
  if (in_force.last.unix_time != 0) {
    facts.reload = observe::StatusFacts::Reload{in_force.last.succeeded, in_force.last.unix_time, {}};
    if (!in_force.last.succeeded) facts.reload->errors = in_force.last.words;
  }
  return facts;
}

std::string Proxy::Parts::status() {
  const Current in_force = now();
  const observe::StatusFacts facts = status_facts(in_force);
  return observe::status_json(facts, in_force.snapshot->settings, metrics.totals());
}

std::string Proxy::Parts::status_words() {
  const Current in_force = now();
  const observe::StatusFacts facts = status_facts(in_force);
  return observe::status_text(facts, in_force.snapshot->settings, metrics.totals());
}

std::string Proxy::Parts::metrics_text() {
  set_gauges(metrics, budgets, host_guards);
  metrics.set_log_dropped(log.dropped());
  return metrics.text();
}

}  // namespace reprise::net
