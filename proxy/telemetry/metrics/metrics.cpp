#include "proxy/telemetry/metrics/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <variant>

#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/metrics/metric_cells.hpp"
#include "proxy/telemetry/metrics/metric_table.hpp"
#include "proxy/telemetry/metrics/open_metrics.hpp"
#include "proxy/telemetry/metrics/process_stats.hpp"

namespace reprise::telemetry {
namespace {

using policy::Reason;

std::size_t index(Reason reason) { return static_cast<std::size_t>(reason); }

double seconds(policy::Duration span) { return std::max(0.0, std::chrono::duration<double>(span).count()); }

// Returns the counter for the `code` label: the status that was sent, even if the client left in the middle
// of the response.
Counter& code_cell(RouteCells& cells, const ExchangeRecord& record) {
  if (record.ending == Ending::cut) return cells.cut;
  const auto status = static_cast<std::size_t>(record.status);
  return status > 0 && status < cells.statuses.size() ? cells.statuses[status] : cells.client_gone;
}

void count_call(RouteCells& cells, const ExchangeRecord& record) {
  add_one(cells.calls[grpc_index(record.grpc)]);
  const bool succeeded = record.ending == Ending::complete && record.status == 200;
  if (succeeded && record.grpc && is_server_error(*record.grpc)) add_one(cells.failed_calls);
}

void count_entry(RouteCells& cells, UpstreamCells* upstream, std::size_t outcome,
                 const policy::LedgerEntry& entry) {
  add_one(cells.attempts[outcome]);
  if (upstream != nullptr) {
    add_one(upstream->attempts[outcome]);
    upstream->duration.observe(seconds(entry.ended - entry.started));
  }
  if (const auto* responded = std::get_if<policy::Responded>(&entry.outcome)) {
    if (const auto& asked = responded->hints.retry_after) cells.retry_after.observe(seconds(*asked));
  }
  if (!entry.verdict.retry) return;
  add_one(cells.retries[index(entry.verdict.reason)]);
  const bool waited =
      entry.verdict.reason != Reason::stale_connection && entry.verdict.reason != Reason::hedged;
  if (waited) cells.backoff.observe(seconds(entry.verdict.delay));
}

// Counts the attempts that the ledger has evicted. All counts are exact except the buckets of the duration
// histograms, which count each of these attempts with their mean duration.
void count_evicted(RouteCells& cells, UpstreamCells* upstream, const policy::Evicted& all) {
  const auto add = [](Counter& counter, std::uint64_t number) {
    counter.fetch_add(number, std::memory_order_relaxed);
  };
  for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
    add(cells.attempts[i], all.outcomes[i]);
    if (upstream != nullptr) add(upstream->attempts[i], all.outcomes[i]);
  }
  for (std::size_t i = 0; i < all.retries.size(); ++i) add(cells.retries[i], all.retries[i]);
  if (upstream != nullptr && all.attempts > 0)
    upstream->duration.observe(all.took / static_cast<double>(all.attempts), all.attempts);
  if (all.waits > 0) cells.backoff.observe(all.waited / static_cast<double>(all.waits), all.waits);
  if (all.pauses > 0) cells.retry_after.observe(all.paused / static_cast<double>(all.pauses), all.pauses);
}

void count_final_reason(RouteCells& cells, Reason reason) {
  if (reason == Reason::success || policy::is_retry(reason)) return;
  add_one(cells.refused[index(reason)]);
  if (is_exhausted(reason)) add_one(cells.exhausted[index(reason)]);
}

template <typename Cells>
std::uint64_t sum(const Cells& cells) {
  std::uint64_t total = 0;
  for (const Counter& each : cells) total += each.load(std::memory_order_relaxed);
  return total;
}

std::uint64_t now_in(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

void add_if_any(Metrics::Counts& to, std::string_view word, std::uint64_t count) {
  if (count > 0) to.emplace_back(word, count);
}

Metrics::Counts responses_of(const RouteCells& cells) {
  constexpr std::array<std::string_view, 6> classes{"1xx", "2xx", "3xx", "4xx", "5xx", "other"};
  std::array<std::uint64_t, classes.size()> counts{};
  for (std::size_t status = 100; status < cells.statuses.size(); ++status)
    counts[std::min(status / 100, classes.size()) - 1] += now_in(cells.statuses[status]);
  const std::uint64_t failed_calls = now_in(cells.failed_calls);
  counts[1] -= std::min(counts[1], failed_calls);  // another thread may have counted one meanwhile
  Metrics::Counts responses;
  for (std::size_t i = 0; i < classes.size(); ++i) add_if_any(responses, classes[i], counts[i]);
  add_if_any(responses, "grpc", failed_calls);
  add_if_any(responses, "cut", now_in(cells.cut));
  add_if_any(responses, "client_gone", now_in(cells.client_gone));
  return responses;
}

std::uint64_t requests_of(const RouteCells& cells) {
  return sum(cells.statuses) + cells.cut.load(std::memory_order_relaxed) +
         cells.client_gone.load(std::memory_order_relaxed);
}

// Converts a time on the monotonic clock to whole seconds.
std::int64_t second_of(policy::Instant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

RouteNumbers numbers_of(const RouteCells& cells) {
  std::uint64_t requests = 0;
  std::uint64_t failed = now_in(cells.cut) + now_in(cells.failed_calls);
  for (std::size_t status = 0; status < cells.statuses.size(); ++status) {
    const std::uint64_t sent = now_in(cells.statuses[status]);
    requests += sent;
    if (status >= 500 && status < 600) failed += sent;
  }
  const auto narrow = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  RouteNumbers numbers;
  numbers.client_gone = narrow(now_in(cells.client_gone));
  numbers.requests = narrow(requests + now_in(cells.cut) + now_in(cells.client_gone));
  numbers.failed = narrow(failed);
  numbers.retries = narrow(sum(cells.retries));
  numbers.recovered = narrow(now_in(cells.recovered));
  numbers.refused = narrow(sum(cells.refused));
  static_assert(Distribution::most_bounds + 1 == RouteNumbers::most_buckets);
  for (std::size_t i = 0; i < numbers.durations.size(); ++i)
    numbers.durations[i] = narrow(cells.duration.count_at(i));
  return numbers;
}

AttemptNumbers numbers_of(const UpstreamCells& cells) {
  AttemptNumbers numbers;
  for (std::size_t i = 0; i < cells.attempts.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(now_in(cells.attempts[i]));
    numbers.attempts += number;
    const std::string_view outcome = policy::outcome_labels[i];
    if (outcome != "2xx" && outcome != "3xx" && outcome != "4xx") numbers.failed += number;
  }
  return numbers;
}

// Begins a new second of the last-minute counts if the request ended in a later second than the requests
// before. Call before the request is counted, because the counts so far belong to earlier seconds.
void begin_second(RouteCells& cells, UpstreamCells* upstream, policy::Instant ended) {
  const std::int64_t second = second_of(ended);
  cells.last_minute.before_count(second, [&] { return numbers_of(cells); });
  if (upstream != nullptr) upstream->last_minute.before_count(second, [&] { return numbers_of(*upstream); });
}

std::size_t place(const prometheus::MetricFamily& family) {
  const auto rows = metric_rows();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const MetricRow& each) { return each.name == family.name; });
  return static_cast<std::size_t>(found - rows.begin());
}

// Sorts the families and their series, because the registry keeps series in hash order and two outputs must
// be comparable.
void put_in_order(std::vector<prometheus::MetricFamily>& families) {
  std::sort(families.begin(), families.end(),
            [](const auto& left, const auto& right) { return place(left) < place(right); });
  for (prometheus::MetricFamily& family : families) {
    std::stable_sort(family.metric.begin(), family.metric.end(),
                     [](const auto& left, const auto& right) { return left.label < right.label; });
  }
}

}  // namespace

Metrics::Metrics(std::span<const std::string> routes, std::span<const std::string_view> rejections,
                 std::string_view version, UpstreamLabels upstreams)
    : cells_(std::make_unique<Cells>(routes, rejections, version, std::move(upstreams))) {}

Metrics::~Metrics() = default;

std::size_t Metrics::route(std::string_view name) {
  const std::lock_guard lock(cells_->adding);
  auto& routes = cells_->routes;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (routes[i].name == name) return i;
  }
  if (!routes.full()) routes.add(name);
  return routes.size() - 1;
}

void Metrics::count(const ExchangeRecord& record) {
  RouteCells& cells = cells_->routes[record.route].cells;
  const policy::Ledger& ledger = *record.ledger;
  begin_second(cells, record.upstream, record.ended());
  if (!is_tunnel(record)) {
    add_one(code_cell(cells, record));
    cells.duration.observe(seconds(record.took));
  }
  if (record.is_call) count_call(cells, record);
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i))
    count_entry(cells, record.upstream, cells_->outcome_labels.index(ledger[i].outcome), ledger[i]);
  if (ledger.evicted() != nullptr) count_evicted(cells, record.upstream, *ledger.evicted());
  cells.request_bytes.fetch_add(record.request_bytes, std::memory_order_relaxed);
  cells.response_bytes.fetch_add(record.response_bytes, std::memory_order_relaxed);
  if (!ledger.empty()) cells.attempts_per_request.observe(static_cast<double>(ledger.size()));
  count_final_reason(cells, ledger.reason);
  if (ledger.size() > 1 && is_recovered(record)) add_one(cells.recovered);
  if (ledger.size() > 1 && is_resumed(record)) add_one(cells.resumed_downloads);
  if (ledger.ambiguous) add_one(cells.ambiguous);
  if (ledger.hedge != policy::HedgeOutcome::none)
    add_one(cells.hedges[static_cast<std::size_t>(ledger.hedge)]);
}

UpstreamCells& Metrics::upstream(std::string_view host_port) {
  return cells_->by_upstream.cells_of(host_port);
}

std::string_view Metrics::upstream_label(std::string_view host_port) const {
  return cells_->by_upstream.label_of(host_port);
}

void Metrics::count_rejection(std::size_t cause) { add_one(cells_->rejected.at(cause)); }

void Metrics::count_tunnel(TunnelOutcome outcome) {
  add_one(cells_->tunnels[static_cast<std::size_t>(outcome)]);
}

bool Metrics::count_unread(std::string_view host_port, std::string_view intercept) {
  return cells_->unread.count(host_port, intercept);
}

void Metrics::count_stream(Protocol protocol) {
  add_one(cells_->streams[static_cast<std::size_t>(protocol)]);
}

void Metrics::count_interception(Interception outcome) {
  add_one(cells_->interceptions[static_cast<std::size_t>(outcome)]);
}

void Metrics::count_lookup(LookupOutcome outcome) {
  add_one(cells_->lookups[static_cast<std::size_t>(outcome)]);
}

void Metrics::count_reload(ReloadOutcome outcome) {
  add_one(cells_->reloads[static_cast<std::size_t>(outcome)]);
  cells_->last_reload_succeeded.store(outcome == ReloadOutcome::success ? 1 : 0, std::memory_order_relaxed);
}

void Metrics::count_spans(std::uint64_t taken) { cells_->spans.fetch_add(taken, std::memory_order_relaxed); }

void Metrics::count_dropped_spans(SpanDrop cause, std::uint64_t number) {
  cells_->dropped_spans[static_cast<std::size_t>(cause)].fetch_add(number, std::memory_order_relaxed);
}

void Metrics::count_limit(LimitHit limit) { add_one(cells_->limits[static_cast<std::size_t>(limit)]); }

void Metrics::set_log_dropped(std::uint64_t total) {
  cells_->log_dropped.store(total, std::memory_order_relaxed);
}

void Metrics::set_config_hash(std::string_view hash, std::int64_t unix_time) {
  cells_->config_since.store(unix_time, std::memory_order_relaxed);
  const std::lock_guard lock(cells_->config_mutex);
  if (cells_->config_gauge != nullptr) cells_->config_family.Remove(cells_->config_gauge);
  cells_->config_gauge = &cells_->config_family.Add({{"hash", std::string(hash)}});
  cells_->config_gauge->Set(1);
}

void Metrics::client_connected() { cells_->client_connections.fetch_add(1, std::memory_order_relaxed); }

void Metrics::client_disconnected() { cells_->client_connections.fetch_sub(1, std::memory_order_relaxed); }

void Metrics::upstream_changed(UpstreamState state, int by) {
  cells_->upstreams[static_cast<std::size_t>(state)].fetch_add(by, std::memory_order_relaxed);
}

void Metrics::http2_connections_changed(Http2Side side, int by) {
  cells_->http2_connections[static_cast<std::size_t>(side)].fetch_add(by, std::memory_order_relaxed);
}

void Metrics::http2_streams_changed(Http2Side side, int by) {
  cells_->http2_streams[static_cast<std::size_t>(side)].fetch_add(by, std::memory_order_relaxed);
}

void Metrics::count_http2_goaways(Http2Side side, policy::Http2Code code, std::uint64_t number) {
  cells_->http2_goaways[static_cast<std::size_t>(side)][static_cast<std::size_t>(code)].fetch_add(
      number, std::memory_order_relaxed);
}

void Metrics::count_http2_resets(Http2Side side, policy::Http2Code code, std::uint64_t number) {
  cells_->http2_resets[static_cast<std::size_t>(side)][static_cast<std::size_t>(code)].fetch_add(
      number, std::memory_order_relaxed);
}

void Metrics::count_http2_flood(policy::Http2Flood kind) {
  add_one(cells_->http2_floods[static_cast<std::size_t>(kind)]);
}

void Metrics::count_http2_wait(policy::Duration wait) { cells_->http2_queued.observe(seconds(wait)); }

void Metrics::replay_bytes_changed(ReplayMedium medium, std::int64_t by) {
  cells_->replay_bytes[static_cast<std::size_t>(medium)].fetch_add(by, std::memory_order_relaxed);
}

void Metrics::set_replay_limit(ReplayMedium medium, std::uint64_t bytes) {
  cells_->replay_limits[static_cast<std::size_t>(medium)].store(static_cast<std::int64_t>(bytes),
                                                                std::memory_order_relaxed);
}

void Metrics::set_certificate_left(CertificateUse use, std::optional<std::int64_t> seconds) {
  cells_->certificates_left[static_cast<std::size_t>(use)].store(seconds.value_or(no_certificate),
                                                                 std::memory_order_relaxed);
}

void Metrics::set_budget_ratio(std::string_view upstream, double ratio) {
  cells_->budget_family.Add({{"upstream", std::string(upstream)}}).Set(ratio);
}

void Metrics::set_circuit_state(std::string_view upstream, policy::Circuit::State state) {
  cells_->circuit_family.Add({{"upstream", std::string(upstream)}}).Set(static_cast<double>(state));
}

std::string_view word(LimitHit limit) { return limit_words[static_cast<std::size_t>(limit)]; }

std::string_view word(ReloadOutcome outcome) { return reload_words[static_cast<std::size_t>(outcome)]; }

std::string_view word(SpanDrop cause) { return span_drop_words[static_cast<std::size_t>(cause)]; }

std::string_view word(Interception outcome) { return interception_words[static_cast<std::size_t>(outcome)]; }

std::string Metrics::text(Exposition form) {
  std::vector<prometheus::MetricFamily> families = cells_->registry.Collect();
  std::erase_if(families, [](const auto& each) { return each.metric.empty(); });
  std::vector<prometheus::MetricFamily> own = cells_->Collect();
  std::move(own.begin(), own.end(), std::back_inserter(families));
  append_process_families(families);
  put_in_order(families);
  return form == Exposition::open_metrics ? open_metrics(families)
                                          : prometheus::TextSerializer().Serialize(families);
}

Metrics::Totals Metrics::totals() const {
  Totals totals;
  for (std::size_t i = 0; i < cells_->routes.size(); ++i) {
    const RouteCells& cells = cells_->routes[i].cells;
    totals.requests += requests_of(cells);
    totals.attempts += sum(cells.attempts);
    totals.retries += sum(cells.retries);
    totals.recovered += cells.recovered.load(std::memory_order_relaxed);
    totals.exhausted += sum(cells.exhausted);
  }
  totals.rejected = sum(cells_->rejected);
  totals.tunnels =
      sum(cells_->tunnels) - now_in(cells_->tunnels[static_cast<std::size_t>(TunnelOutcome::http)]);
  totals.client_connections = cells_->client_connections.load(std::memory_order_relaxed);
  const auto level = [&](UpstreamState state) {
    return cells_->upstreams[static_cast<std::size_t>(state)].load(std::memory_order_relaxed);
  };
  totals.upstream_active = level(UpstreamState::active);
  totals.upstream_idle = level(UpstreamState::idle);
  constexpr auto to_upstreams = static_cast<std::size_t>(Http2Side::upstream);
  totals.http2_connections = cells_->http2_connections[to_upstreams].load(std::memory_order_relaxed);
  totals.http2_streams = cells_->http2_streams[to_upstreams].load(std::memory_order_relaxed);
  return totals;
}

Metrics::RouteTotals Metrics::totals_of(std::size_t route) const {
  const RouteCells& cells = cells_->routes[route].cells;
  RouteTotals totals;
  totals.requests = requests_of(cells);
  totals.retries = sum(cells.retries);
  totals.recovered = cells.recovered.load(std::memory_order_relaxed);
  totals.exhausted = sum(cells.exhausted);
  for (std::size_t i = 0; i < cells.refused.size(); ++i)
    add_if_any(totals.refused, policy::word(static_cast<Reason>(i)), now_in(cells.refused[i]));
  totals.responses = responses_of(cells);
  if (cells.duration.count() > 0) totals.durations = cells.duration.counts();
  return totals;
}

std::vector<CountedSecond<RouteNumbers>> Metrics::last_minute_of(std::size_t route,
                                                                 policy::Instant now) const {
  const RouteCells& cells = cells_->routes[route].cells;
  return cells.last_minute.list(second_of(now), [&] { return numbers_of(cells); });
}

std::span<const double> Metrics::duration_bounds() { return telemetry::duration_bounds; }

std::vector<Metrics::UpstreamTotals> Metrics::upstream_totals(policy::Instant now) const {
  std::vector<UpstreamTotals> all;
  cells_->by_upstream.each([&](const UpstreamCells& cells) {
    const auto totals = [&cells] { return numbers_of(cells); };
    UpstreamTotals one{cells.label, {}, cells.last_minute.list(second_of(now), totals)};
    for (std::size_t i = 0; i < cells.attempts.size(); ++i)
      add_if_any(one.attempts, policy::outcome_labels[i], now_in(cells.attempts[i]));
    if (!one.attempts.empty()) all.push_back(std::move(one));
  });
  return all;
}

std::vector<UnreadHost> Metrics::unread_hosts() const {
  constexpr std::size_t most = 32;
  return cells_->unread.list(most);
}

}  // namespace reprise::telemetry
