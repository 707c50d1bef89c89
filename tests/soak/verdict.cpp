#include "tests/soak/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reprise::soak {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
// Returns the maximum growth of memory, in bytes. Only lists of free buffers may grow. They take some MiB per
// thread if a slow machine keeps many requests in flight. A short soak detects a leak of 200 bytes per
// request, and a long soak a leak of 1 byte per request.
std::int64_t most_growth(double minutes) { return minutes < 10 ? 40 * mib : minutes < 20 ? 4 * mib : mib; }
// Maximum number of pipe ends that a thread keeps for later downloads.
constexpr std::int64_t most_pipes = 2 * 16;
// If the pacing timer was late by more than this time, the machine stalled. Timeouts may then have ended
// requests that had no fault.
constexpr auto long_stall = std::chrono::seconds(2);

double milliseconds(Clock::duration span) { return std::chrono::duration<double, std::milli>(span).count(); }

double value_of(const std::map<std::string, double>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? 0 : found->second;
}

/// Returns the 99th percentile of the samples in [from, to), in milliseconds; 0 for fewer than 100 samples.
double p99(const std::vector<Sample>& samples, Clock::duration from, Clock::duration to) {
  std::vector<double> taken;
  for (const Sample& sample : samples) {
    if (sample.at >= from && sample.at < to) taken.push_back(milliseconds(sample.took));
  }
  if (taken.size() < 100) return 0;
  const auto place = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() * 99 / 100);
  std::nth_element(taken.begin(), place, taken.end());
  return *place;
}

}  // namespace

Judgement::Judgement(Ledger& ledger, const Load& load, const Observed& observed)
    : ledger_(ledger), load_(load), observed_(observed), sums_(ledger.sums()) {}

void Judgement::fail(const std::string& why) {
  right_ = false;
  std::printf("WRONG: %s\n", why.c_str());
}

// Compares two counts of attempts. If the machine stalled for longer than a timeout, reprise ended attempts
// to which the upstream was still responding, so the counts may differ by `slack_`. Reprise may also count up
// to `most_in_vain` attempts that the upstream did not see.
void Judgement::row_of_attempts(const char* what, double ours, double theirs, double most_in_vain) {
  const bool near = std::abs(ours - theirs) <= slack_;
  const bool in_vain = theirs >= ours && theirs - ours <= most_in_vain;
  if (in_vain && theirs > ours) {
    std::printf("%-34s %12.0f %12.0f   (%.0f unseen, of downloads that were cut)\n", what, ours, theirs,
                theirs - ours);
  } else if (slack_ > 0 && near) {
    std::printf("%-34s %12.0f %12.0f   (%.0f ended by a machine that stood still)\n", what, ours, theirs,
                slack_);
  } else {
    row(what, ours, theirs);
  }
}

void Judgement::row(const char* what, double ours, double theirs) {
  const bool same = std::abs(ours - theirs) < 0.5;
  std::printf("%-34s %12.0f %12.0f%s\n", what, ours, theirs, same ? "" : "   DIFFERS");
  if (!same) fail(std::string(what) + " differ");
}

void Judgement::compare_counters() {
  const Exposition& metrics = observed_.metrics;
  const auto as_double = [](std::uint64_t count) { return static_cast<double>(count); };
  std::printf("%-34s %12s %12s\n", "", "soak", "reprise");
  // Reprise counts opened tunnels apart from requests.
  const auto opened = as_double(ledger_.tunnels());
  row("requests", as_double(sums_.requests) - opened, metrics.sum("reprise_requests_total"));
  const auto codes = metrics.by("reprise_requests_total", "code");
  for (const auto& [code, theirs] : codes) {
    const auto ours = sums_.codes.find(code);
    const double requests = ours == sums_.codes.end() ? 0 : as_double(ours->second);
    row(("  " + code).c_str(), requests - (code == "200" ? opened : 0), theirs);
  }
  for (const auto& [code, ours] : sums_.codes) {
    if (!codes.contains(code)) row(("  " + code).c_str(), as_double(ours), 0);
  }
  row("refused before any attempt", as_double(ledger_.rejections()),
      metrics.sum("reprise_rejected_requests_total"));
  row("tunnels", as_double(ledger_.tunnels()), metrics.sum("reprise_tunnels_total"));
  row("client connections left", 0, metrics.sum("reprise_client_connections"));
  row("upstream connections left", 0, metrics.sum("reprise_upstream_connections"));
  row("replay bytes left", 0, metrics.sum("reprise_replay_bytes"));
}

// Returns the maximum number of attempts that reprise counts but the upstream did not see. Before a broken
// download ends as cut, up to ten resumes in a row may fail to connect, and the upstream sees none of them.
// Completed downloads add nothing: the upstream sees their last attempt, and its number also counts all
// earlier attempts, seen or not.
double Judgement::most_in_vain() const { return 10 * static_cast<double>(sums_.cut_downloads); }

void Judgement::compare_attempts() {
  const Exposition& metrics = observed_.metrics;
  const auto as_double = [](std::uint64_t count) { return static_cast<double>(count); };
  const auto played = as_double(ledger_.fates()[static_cast<std::size_t>(Fate::silence)]);
  const double silences =
      played - as_double(ledger_.behaviours()[static_cast<std::size_t>(Behaviour::leaves_early)]);
  slack_ = 4 * std::max(0.0, value_of(metrics.by("reprise_attempts_total", "outcome"), "timeout") - silences);
  row_of_attempts("attempts", as_double(sums_.attempts), metrics.sum("reprise_attempts_total"),
                  most_in_vain());
  const auto outcomes = metrics.by("reprise_attempts_total", "outcome");
  const auto& statuses = ledger_.statuses_of_attempts();
  row_of_attempts("  2xx, or truncated", as_double(statuses[2] + ledger_.tunnels() + ledger_.broken_bodies()),
                  value_of(outcomes, "2xx") + value_of(outcomes, "truncated"));
  row_of_attempts("  4xx", as_double(statuses[4]), value_of(outcomes, "4xx"));
  row_of_attempts("  5xx", as_double(statuses[5]), value_of(outcomes, "5xx"));
  for (const auto& [outcome, count] : outcomes) {
    if (outcome.find("xx") == std::string::npos)
      std::printf("  %-32s %12s %12.0f\n", outcome.c_str(), "", count);
  }
}

void Judgement::compare_reasons() {
  const Exposition& metrics = observed_.metrics;
  const auto retries = metrics.by("reprise_retries_total", "reason");
  row_of_attempts("retries", static_cast<double>(sums_.attempts - sums_.requests),
                  metrics.sum("reprise_retries_total"), most_in_vain());
  row_of_attempts("  retryable_status", static_cast<double>(sums_.status_retries),
                  value_of(retries, "retryable_status"));
  for (const auto& [reason, count] : retries) {
    if (reason != "retryable_status") std::printf("  %-32s %12s %12.0f\n", reason.c_str(), "", count);
  }
  const auto refused = metrics.by("reprise_retries_refused_total", "reason");
  for (const auto& [reason, ours] : ledger_.reasons()) {
    compare_refusals(reason, static_cast<double>(ours), value_of(refused, reason));
  }
  std::printf("%-34s %12s %12.0f\n", "recovered", "", metrics.sum("reprise_recovered_total"));
  std::printf("%-34s %12s %12.0f\n", "resumed downloads", "", metrics.sum("reprise_resumed_downloads_total"));
}

// Compares how often a reason ended the retries. Reprise may count more than the clients: a client does not
// learn the reason if a resume was refused after the head, or if the client left before the head.
void Judgement::compare_refusals(const std::string& reason, double ours, double theirs) {
  const std::string what = "  refused: " + reason;
  const bool is_told = reason == "not_idempotent" || reason == "not_replayable";
  if (is_told) {
    row_of_attempts(what.c_str(), ours, theirs);
    return;
  }
  std::printf("%-34s %12.0f %12.0f   (%.0f untold)\n", what.c_str(), ours, theirs, theirs - ours);
  const auto untold = static_cast<double>(sums_.cut + sums_.gone);
  if (theirs < ours - slack_ || theirs > ours + untold + slack_) fail(what + " differ");
}

void Judgement::check_losses() {
  const std::uint64_t lost = sums_.lost + load_.given_up();
  std::printf("\nanswered %llu, cut %llu, client gone %llu, lost %llu\n",
              static_cast<unsigned long long>(sums_.responded), static_cast<unsigned long long>(sums_.cut),
              static_cast<unsigned long long>(sums_.gone), static_cast<unsigned long long>(lost));
  std::printf("effects %llu, duplicated %llu; corrupted %llu; unexplained %llu\n",
              static_cast<unsigned long long>(sums_.effects),
              static_cast<unsigned long long>(sums_.duplicated),
              static_cast<unsigned long long>(ledger_.corrupted()),
              static_cast<unsigned long long>(ledger_.unjust()));
  if (lost > 0) fail("requests were lost");
  if (sums_.duplicated > 0) fail("effects were duplicated");
  if (ledger_.corrupted() > 0) fail("bytes were wrong");
  if (ledger_.unjust() > 0) fail("requests ended as nothing explains");
}

void Judgement::check_process() {
  const ProcessSample& before = observed_.before;
  const ProcessSample& after = observed_.after;
  std::int64_t most = 0;
  for (const ProcessSample& sample : observed_.samples) most = std::max(most, sample.resident_bytes);
  const std::int64_t grown = growth(observed_.samples);
  std::printf("memory: %.1f MiB before, %.1f at most, %.1f after; second to last quarter %+.2f MiB\n",
              static_cast<double>(before.resident_bytes) / mib, static_cast<double>(most) / mib,
              static_cast<double>(after.resident_bytes) / mib, static_cast<double>(grown) / mib);
  std::printf("descriptors %lld before, %lld after (pipes %lld, %lld); threads %lld, %lld\n",
              static_cast<long long>(before.descriptors), static_cast<long long>(after.descriptors),
              static_cast<long long>(before.pipes), static_cast<long long>(after.pipes),
              static_cast<long long>(before.threads), static_cast<long long>(after.threads));
  std::printf("memory in tenths of the run:");
  const std::size_t count = observed_.samples.size();
  for (std::size_t tenth = 0; tenth < 10 && count > 0; ++tenth) {
    std::printf(" %.1f", static_cast<double>(observed_.samples[tenth * count / 10].resident_bytes) / mib);
  }
  std::printf("\n");
  if (grown > most_growth(observed_.minutes)) fail("memory grows");
  if (after.descriptors != before.descriptors) fail("descriptors were not given back");
  if (after.pipes > before.pipes + most_pipes) fail("pipes were not given back");
  if (after.threads != before.threads) fail("threads were not given back");
}

// Build machines are noisy, so only a large slowdown fails.
void Judgement::check_latency() {
  const auto end = load_.samples().empty() ? Clock::duration{} : load_.samples().back().at;
  const double first = p99(load_.samples(), Clock::duration{}, end / 4);
  const double last = p99(load_.samples(), end * 3 / 4, end);
  std::printf(
      "p99 of small untouched requests: first quarter %.1f ms, last %.1f ms (%.2fx); worst stall here %.0f "
      "ms\n",
      first, last, first > 0 ? last / first : 0, milliseconds(load_.worst_stall()));
  const bool quiet = load_.worst_stall() < long_stall;
  if (quiet && first > 0 && last > 10 * first && last - first > 2000) fail("responses become slower");
}

std::uint64_t Judgement::kinds() const {
  std::uint64_t count = (observed_.flaps > 0) + (ledger_.accept_resets() > 0);
  for (std::size_t i = 1; i < fate_count; ++i) count += ledger_.fates().at(i) > 0;
  for (std::size_t i = 1; i < behaviour_count; ++i) count += ledger_.behaviours().at(i) > 0;
  return count;
}

bool Judgement::print() {
  compare_counters();
  compare_attempts();
  compare_reasons();
  check_losses();
  check_process();
  check_latency();
  if (ledger_.mix().lost_posts) return right_;
  std::printf("faults played:");
  for (std::size_t i = 1; i < fate_count; ++i) {
    const std::string_view name = word(static_cast<Fate>(i));
    std::printf(" %.*s %llu;", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(ledger_.fates().at(i)));
  }
  std::printf(" reset at accept %llu; port closed %llu\nclients:",
              static_cast<unsigned long long>(ledger_.accept_resets()),
              static_cast<unsigned long long>(observed_.flaps));
  for (std::size_t i = 0; i < behaviour_count; ++i) {
    const std::string_view name = word(static_cast<Behaviour>(i));
    std::printf(" %.*s %llu;", static_cast<int>(name.size()), name.data(),
                static_cast<unsigned long long>(ledger_.behaviours().at(i)));
  }
  std::printf("\n");
  return right_;
}

std::string Judgement::figures() const {
  const auto line = [](const char* name, const std::string& value) {
    return "\"" + std::string(name) + "\": " + value;
  };
  if (ledger_.mix().lost_posts) {
    std::uint64_t lost_posts = ledger_.fates()[static_cast<std::size_t>(Fate::lost)];
    return "{" + line("executed-but-lost POSTs", std::to_string(lost_posts)) + ", " +
           line("duplicated effects", std::to_string(sums_.duplicated)) + "}\n";
  }
  char minutes[16];
  std::snprintf(minutes, sizeof minutes, "%.1f", observed_.minutes);
  return "{" + line("soak minutes", minutes) + ", " + line("soak requests", std::to_string(ledger_.size())) +
         ", " + line("soak fault kinds", std::to_string(kinds())) + ", " +
         line("duplicated effects", std::to_string(sums_.duplicated)) + ", " +
         line("lost", std::to_string(sums_.lost + load_.given_up())) + ", " +
         line("corrupted", std::to_string(ledger_.corrupted())) + "}\n";
}

}  // namespace reprise::soak
