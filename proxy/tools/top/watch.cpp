#include "proxy/tools/top/watch.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace reprise::tools {
namespace {

std::uint64_t count_of(const CountsByWord& counts, std::string_view word) {
  for (const auto& [name, count] : counts)
    if (name == word) return count;
  return 0;
}

// Returns the increase of each count. Omits counts that did not increase.
CountsByWord difference(const CountsByWord& now, const CountsByWord& before) {
  CountsByWord grown;
  for (const auto& [word, count] : now) {
    const std::uint64_t earlier = count_of(before, word);
    if (count > earlier) grown.emplace_back(word, count - earlier);
  }
  return grown;
}

std::vector<std::uint64_t> difference(std::vector<std::uint64_t> now,
                                      const std::vector<std::uint64_t>& before) {
  for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i) now[i] -= std::min(now[i], before[i]);
  return now;
}

RouteCounts difference(const RouteCounts& now, const RouteCounts& before) {
  RouteCounts grown;
  grown.requests = now.requests - before.requests;
  grown.retries = now.retries - std::min(now.retries, before.retries);
  grown.recovered = now.recovered - std::min(now.recovered, before.recovered);
  grown.exhausted = now.exhausted - std::min(now.exhausted, before.exhausted);
  grown.refused = difference(now.refused, before.refused);
  grown.responses = difference(now.responses, before.responses);
  grown.durations = difference(now.durations, before.durations);
  return grown;
}

// Returns the number of requests with a status of 500 or above, a failed call, or a response that was cut.
std::uint64_t failed_of(const CountsByWord& responses) {
  return count_of(responses, "5xx") + count_of(responses, "grpc") + count_of(responses, "cut");
}

// Returns the fraction of requests that did not fail. Omits requests whose client left before the response,
// because neither reprise nor the upstream failed.
std::optional<double> success_of(const CountsByWord& responses) {
  const std::uint64_t all = sum_of(responses) - count_of(responses, "client_gone");
  if (all == 0) return std::nullopt;
  return static_cast<double>(all - failed_of(responses)) / static_cast<double>(all);
}

std::uint64_t failed_or_refused(const RouteCounts& counts) {
  return failed_of(counts.responses) + sum_of(counts.refused);
}

// Returns true if the proxy has restarted, so that its counters began again.
bool is_restart(const Status& before, const Status& now) {
  return now.started != before.started || now.requests < before.requests;
}

}  // namespace

std::uint64_t sum_of(const CountsByWord& counts) {
  std::uint64_t sum = 0;
  for (const auto& [word, count] : counts) sum += count;
  return sum;
}

bool is_notable(const RequestReading& story) {
  if (story.attempts.size() > 1 || story.left_out > 0 || story.recovered) return true;
  if (!story.ending.empty() && story.ending != "complete") return true;
  return story.reason != "success" && story.reason != "not_retryable" && !story.reason.empty();
}

bool is_notable(const UpstreamReading& upstream) {
  return upstream.budget_left.value_or(1) < 1 || !upstream.circuit.empty() || upstream.pause_seconds;
}

std::optional<Quantile> quantile(double share, const std::vector<double>& bounds,
                                 const std::vector<std::uint64_t>& counts) {
  if (bounds.empty() || counts.size() != bounds.size() + 1) return std::nullopt;
  double all = 0;
  for (const std::uint64_t count : counts) all += static_cast<double>(count);
  if (all <= 0) return std::nullopt;
  double left = share * all;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (left <= here && here > 0) {
      const double lowest = i == 0 ? 0 : bounds[i - 1];
      return Quantile{lowest + (bounds[i] - lowest) * (left / here), false};
    }
    left -= here;
  }
  return Quantile{bounds.back(), true};
}

void Watch::took(Status status, double at) {
  loss_.reset();
  if (!samples_.empty() && is_restart(samples_.back().status, status)) {
    samples_.clear();
    stories_.clear();
    restarted_at_ = at;
  }
  samples_.push_back({std::move(status), at});
  while (samples_.size() > window_ + 1) samples_.pop_front();
}

void Watch::took(std::vector<RequestReading> stories) {
  // The page /stories lists the oldest request first. If two requests ended at the same time, the request
  // that the page lists later is newer. Times in RFC 3339 and UTC can be compared as text.
  std::reverse(stories.begin(), stories.end());
  std::stable_sort(
      stories.begin(), stories.end(),
      [](const RequestReading& one, const RequestReading& other) { return one.time > other.time; });
  stories_ = std::move(stories);
}

void Watch::lost(std::string why, double at) {
  if (loss_) {
    loss_->why = std::move(why);
  } else {
    loss_ = Loss{std::move(why), at};
  }
}

std::vector<RouteFigures> Watch::routes() const {
  std::vector<RouteFigures> all;
  if (samples_.empty()) return all;
  std::unordered_map<std::string_view, const RouteCounts*> before;
  if (samples_.size() > 1)
    for (const RouteReading& route : samples_.front().status.routes)
      before.emplace(route.name, &route.counts);
  for (const RouteReading& route : status().routes) {
    RouteFigures& figures = all.emplace_back();
    figures.name = route.name;
    figures.mode = route.mode;
    figures.total = route.counts;
    figures.trouble = {0, 0, failed_or_refused(route.counts), route.counts.requests};
    const auto found = before.find(route.name);
    // Skips a route without earlier counts: the route is new after a reload, or its counts began again at 0.
    if (found == before.end() || found->second->requests > route.counts.requests) continue;
    figures.span = span();
    figures.recent = difference(route.counts, *found->second);
    figures.trouble[0] = failed_or_refused(figures.recent);
    figures.trouble[1] = figures.recent.retries;
    if (route.has_responses) figures.success = success_of(figures.recent.responses);
    if (!route.has_durations) continue;
    figures.p50 = quantile(0.5, status().duration_bounds, figures.recent.durations);
    figures.p99 = quantile(0.99, status().duration_bounds, figures.recent.durations);
  }
  return all;
}

std::vector<UpstreamFigures> Watch::upstreams() const {
  std::vector<UpstreamFigures> all;
  if (samples_.empty()) return all;
  std::unordered_map<std::string_view, std::uint64_t> before;
  for (const UpstreamReading& upstream : samples_.front().status.upstreams)
    before.emplace(upstream.name, upstream.attempts);
  for (const UpstreamReading& upstream : status().upstreams) {
    UpstreamFigures& figures = all.emplace_back(UpstreamFigures{upstream, 0});
    const auto found = before.find(upstream.name);
    const std::uint64_t earlier = found == before.end() ? 0 : found->second;
    if (span() > 0 && upstream.attempts > earlier)
      figures.attempts_a_second = static_cast<double>(upstream.attempts - earlier) / span();
  }
  return all;
}

double Watch::rate() const {
  if (span() <= 0) return 0;
  return static_cast<double>(status().requests - samples_.front().status.requests) / span();
}

}  // namespace reprise::tools
