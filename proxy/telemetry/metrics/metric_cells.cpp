#include "proxy/telemetry/metrics/metric_cells.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metric_table.hpp"

namespace reprise::telemetry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

constexpr std::array<double, 8> attempts_bounds{1, 2, 3, 4, 5, 8, 13, 25};
constexpr std::array<double, 11> backoff_bounds{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 64};
constexpr std::array<double, 11> queued_bounds{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60};
constexpr std::array<double, 9> retry_after_bounds{1, 2, 5, 10, 30, 60, 120, 600, 3600};

std::uint64_t value_of(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

// Adds one series. The labels are {name, value} pairs.
ClientMetric& add_series(MetricFamily& to, std::vector<ClientMetric::Label> labels) {
  ClientMetric& series = to.metric.emplace_back();
  series.label = std::move(labels);
  return series;
}

void add_counter(MetricFamily& to, std::vector<ClientMetric::Label> labels, std::uint64_t value) {
  add_series(to, std::move(labels)).counter.value = static_cast<double>(value);
}

void add_gauge(MetricFamily& to, std::vector<ClientMetric::Label> labels, std::int64_t value) {
  add_series(to, std::move(labels)).gauge.value = static_cast<double>(value);
}

void add_if_touched(MetricFamily& to, std::vector<ClientMetric::Label> labels, const Counter& counter) {
  if (const std::uint64_t value = value_of(counter); value > 0) add_counter(to, std::move(labels), value);
}

prometheus::Family<prometheus::Gauge>& register_gauge(prometheus::Registry& registry, Metric metric) {
  return prometheus::BuildGauge()
      .Name(std::string(row(metric).name))
      .Help(std::string(row(metric).help))
      .Register(registry);
}

ClientMetric::Histogram histogram_of(const Distribution& from) {
  ClientMetric::Histogram out;
  const std::vector<std::uint64_t> counts = from.counts();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out.sample_count += counts[i];
    const double bound =
        i < from.bounds().size() ? from.bounds()[i] : std::numeric_limits<double>::infinity();
    out.bucket.push_back({out.sample_count, bound});
  }
  out.sample_sum = from.sum();
  return out;
}

// The metric families of the per-route counters. Every route adds its series to these families.
struct RouteFamilies {
  MetricFamily requests = family(Metric::requests);
  MetricFamily calls = family(Metric::grpc_requests);
  MetricFamily duration = family(Metric::request_duration);
  MetricFamily attempts = family(Metric::attempts);
  MetricFamily attempts_per_request = family(Metric::attempts_per_request);
  MetricFamily retries = family(Metric::retries);
  MetricFamily refused = family(Metric::retries_refused);
  MetricFamily recovered = family(Metric::recovered);
  MetricFamily resumed_downloads = family(Metric::resumed_downloads);
  MetricFamily exhausted = family(Metric::exhausted);
  MetricFamily backoff = family(Metric::backoff);
  MetricFamily retry_after = family(Metric::retry_after);
  MetricFamily ambiguous = family(Metric::ambiguous);
  MetricFamily request_bytes = family(Metric::request_bytes);
  MetricFamily response_bytes = family(Metric::response_bytes);
  MetricFamily hedges = family(Metric::hedges);

  void add(const std::string& route, const RouteCells&);

 private:
  static void add_distribution(MetricFamily& to, const std::string& route, const Distribution& from) {
    if (from.count() > 0) add_series(to, {{"route", route}}).histogram = histogram_of(from);
  }
};

void RouteFamilies::add(const std::string& route, const RouteCells& cells) {
  for (std::size_t status = 0; status < cells.statuses.size(); ++status) {
    const std::uint64_t value = value_of(cells.statuses[status]);
    if (value > 0) add_counter(requests, {{"route", route}, {"code", std::to_string(status)}}, value);
  }
  add_if_touched(requests, {{"route", route}, {"code", "cut"}}, cells.cut);
  add_if_touched(requests, {{"route", route}, {"code", "client_gone"}}, cells.client_gone);
  for (std::size_t i = 0; i < cells.calls.size(); ++i)
    add_if_touched(calls, {{"route", route}, {"status", std::string(grpc_label(i))}}, cells.calls[i]);
  for (std::size_t i = 0; i < OutcomeLabels::words.size(); ++i) {
    add_if_touched(attempts, {{"route", route}, {"outcome", std::string(OutcomeLabels::words[i])}},
                   cells.attempts[i]);
  }
  for (const policy::Reason reason : policy::all_reasons()) {
    const auto i = static_cast<std::size_t>(reason);
    const std::vector<ClientMetric::Label> labels{{"route", route},
                                                  {"reason", std::string(policy::word(reason))}};
    add_if_touched(retries, labels, cells.retries[i]);
    add_if_touched(refused, labels, cells.refused[i]);
    // Exports the series even while it is 0, because alerts use it: a series that begins at 1 hides its first
    // increase.
    if (is_exhausted(reason)) add_counter(exhausted, labels, value_of(cells.exhausted[i]));
  }
  add_counter(recovered, {{"route", route}}, value_of(cells.recovered));
  add_counter(resumed_downloads, {{"route", route}}, value_of(cells.resumed_downloads));
  add_counter(ambiguous, {{"route", route}}, value_of(cells.ambiguous));
  add_counter(request_bytes, {{"route", route}}, value_of(cells.request_bytes));
  add_counter(response_bytes, {{"route", route}}, value_of(cells.response_bytes));
  for (std::size_t i = 1; i < cells.hedges.size(); ++i) {
    const std::string outcome(policy::word(static_cast<policy::HedgeOutcome>(i)));
    add_if_touched(hedges, {{"route", route}, {"outcome", outcome}}, cells.hedges[i]);
  }
  add_distribution(duration, route, cells.duration);
  add_distribution(attempts_per_request, route, cells.attempts_per_request);
  add_distribution(backoff, route, cells.backoff);
  add_distribution(retry_after, route, cells.retry_after);
}

template <std::size_t n>
MetricFamily counters(Metric metric, const std::string& label, const std::array<std::string_view, n>& words,
                      const std::array<Counter, n>& cells) {
  MetricFamily out = family(metric);
  for (std::size_t i = 0; i < n; ++i) add_counter(out, {{label, std::string(words[i])}}, value_of(cells[i]));
  return out;
}

MetricFamily certificate_ends(const std::array<Level, certificate_words.size()>& certificates_left) {
  MetricFamily out = family(Metric::certificate_expires);
  for (std::size_t i = 0; i < certificate_words.size(); ++i) {
    const std::int64_t left = certificates_left[i].load();
    if (left != no_certificate) add_gauge(out, {{"certificate", std::string(certificate_words[i])}}, left);
  }
  return out;
}

template <std::size_t n>
MetricFamily gauges(Metric metric, const std::string& label, const std::array<std::string_view, n>& words,
                    const std::array<Level, n>& cells) {
  MetricFamily out = family(metric);
  for (std::size_t i = 0; i < n; ++i) add_gauge(out, {{label, std::string(words[i])}}, cells[i].load());
  return out;
}

MetricFamily codes_by_side(Metric metric, const Http2CodeCounts& cells) {
  MetricFamily out = family(metric);
  for (std::size_t side = 0; side < cells.size(); ++side) {
    for (std::size_t code = 0; code < cells[side].size(); ++code) {
      add_if_touched(out,
                     {{"side", std::string(side_words[side])}, {"code", std::string(http2_code_words[code])}},
                     cells[side][code]);
    }
  }
  return out;
}

MetricFamily distribution(Metric metric, const Distribution& cells) {
  MetricFamily out = family(metric);
  if (cells.count() > 0) add_series(out, {}).histogram = histogram_of(cells);
  return out;
}

MetricFamily counter(Metric metric, const Counter& cell) {
  MetricFamily out = family(metric);
  add_counter(out, {}, value_of(cell));
  return out;
}

}  // namespace

OutcomeLabels::OutcomeLabels() {
  const auto place = [](const policy::Outcome& outcome) {
    const auto* const found = std::find(words.begin(), words.end(), policy::outcome_label(outcome));
    return static_cast<std::uint8_t>(found - words.begin());
  };
  for (std::size_t i = 0; i < classes; ++i) {
    by_class_[i] = place(policy::Responded{static_cast<int>(i) * 100, {}});
  }
  policy::Responded failed_call{200, {}};
  failed_call.grpc = policy::GrpcStatus::unavailable;
  failed_call_ = place(failed_call);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (std::size_t cause = 0; cause < policy::cause_count; ++cause) {
      by_failure_[stage][cause] =
          place(policy::Failed{static_cast<policy::Stage>(stage), static_cast<policy::Cause>(cause)});
    }
  }
}

std::size_t OutcomeLabels::index(const policy::Outcome& outcome) const {
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) {
    return by_failure_[static_cast<std::size_t>(failed->stage)][static_cast<std::size_t>(failed->cause)];
  }
  const auto& responded = std::get<policy::Responded>(outcome);
  if (responded.grpc && responded.status == 200 && policy::is_failed_call(responded)) return failed_call_;
  const int status_class = responded.status / 100;
  return by_class_[static_cast<std::size_t>(std::clamp(status_class, 0, static_cast<int>(classes) - 1))];
}

std::string_view grpc_label(std::size_t index) {
  return index < policy::grpc_status_count ? policy::word(static_cast<policy::GrpcStatus>(index)) : "none";
}

RouteCells::RouteCells()
    : duration(duration_bounds),
      attempts_per_request(attempts_bounds),
      backoff(backoff_bounds),
      retry_after(retry_after_bounds) {}

Metrics::Cells::Cells(std::span<const std::string> route_names,
                      std::span<const std::string_view> rejection_words, std::string_view version,
                      UpstreamLabels upstream_labels)
    : rejections(rejection_words.begin(), rejection_words.end()),
      rejected(rejection_words.size()),
      http2_queued(queued_bounds),
      by_upstream(std::move(upstream_labels)),
      budget_family(register_gauge(registry, Metric::budget_available)),
      circuit_family(register_gauge(registry, Metric::circuit_state)),
      config_family(register_gauge(registry, Metric::config_hash)) {
  for (const std::string& name : route_names) routes.add(name);
  register_gauge(registry, Metric::build_version).Add({{"version", std::string(version)}}).Set(1);
}

MetricFamily Metrics::Cells::attempts_by_upstream() const {
  MetricFamily attempts = family(Metric::upstream_attempts);
  by_upstream.each([&](const UpstreamCells& cells) {
    for (std::size_t i = 0; i < cells.attempts.size(); ++i) {
      add_if_touched(attempts, {{"upstream", cells.label}, {"outcome", std::string(OutcomeLabels::words[i])}},
                     cells.attempts[i]);
    }
  });
  return attempts;
}

MetricFamily Metrics::Cells::attempt_durations_by_upstream() const {
  MetricFamily durations = family(Metric::upstream_attempt_duration);
  by_upstream.each([&](const UpstreamCells& cells) {
    if (cells.duration.count() > 0)
      add_series(durations, {{"upstream", cells.label}}).histogram = histogram_of(cells.duration);
  });
  return durations;
}

MetricFamily Metrics::Cells::rejections_by_cause() const {
  MetricFamily requests = family(Metric::rejected_requests);
  for (std::size_t i = 0; i < rejected.size(); ++i) {
    add_if_touched(requests, {{"cause", rejections[i]}}, rejected[i]);
  }
  return requests;
}

std::vector<MetricFamily> Metrics::Cells::Collect() const {
  RouteFamilies by_route;
  for (std::size_t i = 0; i < routes.size(); ++i) by_route.add(routes[i].name, routes[i].cells);
  const auto gauge = [](Metric metric, const Level& level) {
    MetricFamily one = family(metric);
    add_gauge(one, {}, level.load());
    return one;
  };

  std::vector<MetricFamily> all{
      by_route.requests,
      by_route.calls,
      by_route.duration,
      by_route.attempts,
      by_route.attempts_per_request,
      by_route.retries,
      by_route.refused,
      by_route.recovered,
      by_route.resumed_downloads,
      by_route.exhausted,
      by_route.backoff,
      by_route.retry_after,
      by_route.ambiguous,
      by_route.request_bytes,
      by_route.response_bytes,
      by_route.hedges,
      gauges(Metric::replay_bytes, "store", replay_words, replay_bytes),
      gauges(Metric::replay_limit_bytes, "store", replay_words, replay_limits),
      attempts_by_upstream(),
      attempt_durations_by_upstream(),
      gauges(Metric::upstream_connections, "state", upstream_words, upstreams),
      gauges(Metric::http2_connections, "side", side_words, http2_connections),
      gauges(Metric::http2_streams, "side", side_words, http2_streams),
      codes_by_side(Metric::http2_goaways, http2_goaways),
      codes_by_side(Metric::http2_resets, http2_resets),
      counters(Metric::http2_floods, "kind", flood_words, http2_floods),
      distribution(Metric::http2_queued, http2_queued),
      gauge(Metric::client_connections, client_connections),
      counters(Metric::tunnels, "outcome", tunnel_words, tunnels),
      counters(Metric::streams, "protocol", protocol_words, streams),
      counters(Metric::interceptions, "outcome", interception_words, interceptions),
      certificate_ends(certificates_left),
      counters(Metric::dns_lookups, "outcome", lookup_words, lookups),
      rejections_by_cause(),
      counters(Metric::limits_hit, "limit", limit_words, limits),
      counters(Metric::config_reloads, "outcome", reload_words, reloads),
      gauge(Metric::config_last_reload_successful, last_reload_succeeded),
      gauge(Metric::config_last_reload_success_time, config_since),
      counter(Metric::log_dropped, log_dropped),
      counter(Metric::trace_spans, spans),
      counters(Metric::trace_dropped, "cause", span_drop_words, dropped_spans),
  };
  std::erase_if(all, [](const MetricFamily& each) { return each.metric.empty(); });
  return all;
}

}  // namespace reprise::telemetry
