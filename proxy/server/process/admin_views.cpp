#include "proxy/server/process/admin_views.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "config/keys/scalar.hpp"
#include "config/reference/running.hpp"
#include "proxy/forward/worker/certificate_ends.hpp"
#include "proxy/server/admin/event_text.hpp"
#include "proxy/server/process/gauges.hpp"
#include "proxy/telemetry/history/entry_json.hpp"
#include "proxy/telemetry/metrics/status_text.hpp"
#include "proxy/tools/explain/request_report.hpp"

namespace reprise::server {
namespace {

using UpstreamFacts = telemetry::StatusFacts::Upstream;

// Collects at most `most` upstreams, one entry each. Add upstreams with a problem first.
class UpstreamList {
 public:
  /// Returns the entry for that name; null if the list is full.
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

// Maximum number of requests on the page, however many are kept.
constexpr std::size_t most_histories = 100;
// Maximum number of new requests per event.
constexpr std::size_t most_new_histories = 30;

bool has(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string without_end(std::string line) {
  line.pop_back();
  return line;
}

}  // namespace

AdminPages AdminViews::pages() {
  return {[this] { return runtime_.phase.is_ready(); },
          [this] { return status(); },
          [this] { return newest_histories(); },
          [this](std::string_view id, HistoryForm form) { return history(id, form); },
          [this](telemetry::Exposition form) { return metrics_text(form); },
          [this](bool whole) { return edition(whole); },
          [this] { return effective_configuration(); }};
}

std::vector<UpstreamFacts> AdminViews::upstream_facts() const {
  UpstreamList list;
  const policy::Instant time = net::Tick::now();
  std::map<std::string, policy::Circuit::State> circuits;  // worst circuit state of each host
  runtime_.host_guards.each(time, [&](std::string_view host_port, policy::Circuit::State state) {
    auto& worst = circuits.try_emplace(std::string(host_port), state).first->second;
    worst = std::max(worst, state);
  });
  for (const auto& [host_port, state] : circuits) {
    if (state != policy::Circuit::State::closed) list.at(host_port);
  }
  runtime_.host_guards.each_pause(time, [&](std::string_view host_port, policy::Instant until) {
    UpstreamFacts* const upstream = list.at(host_port);
    if (upstream != nullptr) upstream->pause_seconds = std::chrono::duration<double>(until - time).count();
  });
  runtime_.budgets.each(time, [&](std::string_view host_port, double ratio) {
    UpstreamFacts* const upstream = ratio < 1 ? list.at(host_port) : nullptr;
    if (upstream != nullptr) upstream->budget_left = std::min(ratio, upstream->budget_left.value_or(1));
  });
  for (telemetry::Metrics::UpstreamTotals& totals : runtime_.metrics.upstream_totals(time)) {
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

telemetry::StatusFacts AdminViews::status_facts(const CurrentConfig& current) const {
  const config::Settings& settings = current.snapshot->settings;
  telemetry::StatusFacts facts;
  facts.version = runtime_.options.version;
  facts.config_file = runtime_.options.config_file;
  facts.config_hash = current.hash;
  facts.started_unix = runtime_.started_unix;
  facts.now_unix = net::Clock::wall_nanoseconds() / 1'000'000'000;
  facts.clock_seconds = std::chrono::duration<double>(net::Tick::now().time_since_epoch()).count();
  facts.limits = {runtime_.options.limits.memory_bytes, runtime_.options.limits.memory_file,
                  runtime_.options.limits.cpus, runtime_.options.limits.cpu_file,
                  text_of(runtime_.options.limits) + "; held request bodies " +
                      config::size_text(settings.limits.replay_memory_bytes)};
  facts.ready = runtime_.phase.ready;
  facts.draining = runtime_.phase.is_draining();
  facts.listeners = described_listeners(current);
  for (const std::size_t number : current.snapshot->counted_as)
    facts.routes.push_back(runtime_.metrics.totals_of(number));
  // Reports only the budgets in use: the others are full, and there may be many.
  constexpr std::size_t most_budgets = 64;
  runtime_.budgets.each(net::Tick::now(), [&](std::string_view host_port, double ratio) {
    if (ratio < 1 && facts.budgets.size() < most_budgets) facts.budgets.emplace_back(host_port, ratio);
  });
  facts.upstreams = upstream_facts();
  facts.unread = runtime_.metrics.unread_hosts();
  if (current.last.unix_time != 0) {
    facts.reload = telemetry::StatusFacts::Reload{current.last.succeeded, current.last.unix_time, {}};
    if (!current.last.succeeded) facts.reload->errors = current.last.words;
  }
  return facts;
}

void AdminViews::add_minute(telemetry::StatusFacts& facts, const CurrentConfig& current) const {
  const policy::Instant time = net::Tick::now();
  telemetry::StatusMinute& minute = facts.minute.emplace();
  minute.seconds = telemetry::seconds_lived(runtime_.started, time);
  for (const std::size_t number : current.snapshot->counted_as)
    minute.routes.push_back(runtime_.metrics.last_minute_of(number, time));
}

std::string AdminViews::status() const {
  const CurrentConfig current = config_.now();
  telemetry::StatusFacts facts = status_facts(current);
  add_minute(facts, current);
  return telemetry::status_json(facts, current.snapshot->settings, runtime_.metrics.totals());
}

std::string AdminViews::status_words() const {
  const CurrentConfig current = config_.now();
  const telemetry::StatusFacts facts = status_facts(current);
  return telemetry::status_text(facts, current.snapshot->settings, runtime_.metrics.totals());
}

std::string AdminViews::effective_configuration() const {
  const CurrentConfig current = config_.now();
  return config::running_text(current.snapshot->settings, runtime_.options.config_file, current.hash);
}

std::string AdminViews::metrics_text(telemetry::Exposition form) {
  set_gauges(runtime_.metrics, runtime_.budgets, runtime_.host_guards);
  runtime_.metrics.set_log_dropped(runtime_.log.dropped());
  forward::set_certificate_gauges(runtime_.metrics, config_.now().snapshot->certificate_ends,
                                  net::Clock::wall_nanoseconds() / 1'000'000'000);
  return runtime_.metrics.text(form);
}

std::string AdminViews::advice_for(const telemetry::HistoryEntry& history) const {
  const auto snapshot = config_.now().snapshot;
  const auto& numbers = snapshot->counted_as;
  const auto found = std::find(numbers.begin(), numbers.end(), history.route);
  if (found == numbers.end()) return {};
  const auto place = static_cast<std::size_t>(found - numbers.begin());
  return tools::advice_for(history, (*snapshot->settings.routes)[place].policy);
}

std::string AdminViews::newest_histories() const {
  json::array all;
  if (runtime_.histories) {
    for (telemetry::HistoryEntry& history : runtime_.histories->newest(most_histories))
      all.push_back(as_json(std::move(history)));
  }
  return telemetry::document_lines(all);
}

json::object AdminViews::as_json(telemetry::HistoryEntry history) const {
  history.route_name = runtime_.log.route_name(history.route);
  return telemetry::story_json(history, advice_for(history));
}

std::optional<std::string> AdminViews::history(std::string_view id, HistoryForm form) const {
  auto found = runtime_.histories ? runtime_.histories->find(id) : std::nullopt;
  if (!found) return std::nullopt;
  if (form == HistoryForm::json) return telemetry::document_text(as_json(std::move(*found))) + "\n";
  found->route_name = runtime_.log.route_name(found->route);
  return tools::to_text(*found, advice_for(*found));
}

// Includes a route only if a request has ended on it since the last event, because its counters change only
// then.
Edition AdminViews::edition(bool whole) {
  const CurrentConfig current = config_.now();
  const config::Settings& settings = current.snapshot->settings;
  telemetry::StatusFacts facts = status_facts(current);
  const telemetry::Metrics::Totals totals = runtime_.metrics.totals();
  const bool same_routes =
      current.hash == edition_before_.hash && facts.routes.size() == edition_before_.requests.size();
  telemetry::RouteChoice moved;
  for (std::size_t i = 0; i < facts.routes.size(); ++i)
    moved.push_back(!same_routes || facts.routes[i].requests != edition_before_.requests[i]);
  Edition edition;
  // Readers that already have the counts of the last minute need only the new seconds, unless the routes have
  // changed.
  if (whole || !same_routes) add_minute(facts, current);
  std::optional<telemetry::StatusMinute> minute;
  if (same_routes) minute.swap(facts.minute);
  append_event(edition.changes, same_routes ? "change" : "status",
               without_end(telemetry::status_json(facts, settings, totals, moved)));
  append_new_histories(edition.changes);
  // The whole state is computed after the changes. A request that ends in between may be reported in both,
  // but is never missed. Readers recognise the second report by the request's id.
  if (minute) facts.minute.swap(minute);
  if (whole)
    append_event(edition.whole, "status", without_end(telemetry::status_json(facts, settings, totals)));
  if (whole) append_event(edition.whole, "stories", without_end(newest_histories()));
  edition_before_.hash = current.hash;
  edition_before_.requests.clear();
  for (const auto& route : facts.routes) edition_before_.requests.push_back(route.requests);
  return edition;
}

void AdminViews::append_new_histories(std::string& events) {
  if (!runtime_.histories) return;
  std::vector<std::uint64_t> numbers;
  for (telemetry::HistoryEntry& history : runtime_.histories->newest(most_new_histories)) {
    numbers.push_back(history.number);
    if (has(edition_before_.histories, history.number)) continue;
    append_event(events, "story", telemetry::document_text(as_json(std::move(history))));
  }
  edition_before_.histories = std::move(numbers);
}

}  // namespace reprise::server
