#include "tests/simulation/coverage_marks.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

namespace reprise::simulation {
namespace {

using policy::Cause;
using policy::Reason;
using policy::Stage;

constexpr std::uint64_t rate = 1000;     // one story in this many must reach each coverage mark
constexpr std::uint64_t enough = 20000;  // with fewer stories, no coverage mark is reported as missing

struct Failure {
  Stage stage;
  Cause cause;
};

constexpr Failure failures_reached[] = {{Stage::resolve, Cause::dns_error},
                                        {Stage::resolve, Cause::dns_timeout},
                                        {Stage::connect, Cause::refused},
                                        {Stage::connect, Cause::unreachable},
                                        {Stage::connect, Cause::connect_timeout},
                                        {Stage::connect, Cause::no_local_port},
                                        {Stage::connect, Cause::no_descriptor},
                                        {Stage::connect, Cause::address_denied},
                                        {Stage::connect, Cause::parent_unreachable},
                                        {Stage::connect, Cause::parent_timeout},
                                        {Stage::tls, Cause::connect_timeout},
                                        {Stage::tls, Cause::closed},
                                        {Stage::tls, Cause::reset},
                                        {Stage::tls, Cause::tls_protocol_error},
                                        {Stage::tls, Cause::tls_certificate_error},
                                        {Stage::send, Cause::reset},
                                        {Stage::send, Cause::closed},
                                        {Stage::send, Cause::replay_lost},
                                        {Stage::head, Cause::attempt_timeout},
                                        {Stage::head, Cause::response_timeout},
                                        {Stage::resolve, Cause::cancelled},
                                        {Stage::connect, Cause::cancelled},
                                        {Stage::send, Cause::cancelled},
                                        {Stage::await_head, Cause::cancelled},
                                        {Stage::send, Cause::response_timeout},
                                        {Stage::send, Cause::attempt_timeout},
                                        {Stage::await_head, Cause::closed},
                                        {Stage::await_head, Cause::reset},
                                        {Stage::await_head, Cause::unacknowledged},
                                        {Stage::await_head, Cause::attempt_timeout},
                                        {Stage::await_head, Cause::response_timeout},
                                        {Stage::head, Cause::closed},
                                        {Stage::head, Cause::reset},
                                        {Stage::head, Cause::malformed_response},
                                        {Stage::head, Cause::header_too_large},
                                        {Stage::connect, Cause::reset},
                                        {Stage::connect, Cause::not_http2},
                                        {Stage::connect, Cause::goaway},
                                        {Stage::await_head, Cause::stream_refused},
                                        {Stage::await_head, Cause::stream_reset},
                                        {Stage::await_head, Cause::goaway},
                                        {Stage::await_head, Cause::http_1_1_required},
                                        {Stage::await_head, Cause::malformed_response},
                                        {Stage::body, Cause::truncated},
                                        {Stage::body, Cause::malformed_response},
                                        {Stage::body, Cause::reset}};

// Failures that fewer than one story in a thousand may reach: a reused connection dies while a request is
// being sent on it, a client leaves at a moment that is soon over, and ends over HTTP/2 at an unusual moment.
constexpr Failure failures_seldom_reached[] = {
    {Stage::send, Cause::unacknowledged},    {Stage::tls, Cause::cancelled},
    {Stage::head, Cause::cancelled},         {Stage::body, Cause::cancelled},
    {Stage::connect, Cause::closed},         {Stage::connect, Cause::http_1_1_required},
    {Stage::tls, Cause::not_http2},          {Stage::tls, Cause::goaway},
    {Stage::tls, Cause::http_1_1_required},  {Stage::send, Cause::goaway},
    {Stage::send, Cause::stream_refused},    {Stage::send, Cause::stream_reset},
    {Stage::send, Cause::http_1_1_required}, {Stage::send, Cause::malformed_response}};

void append_row(std::string& text, std::string_view name, std::uint64_t count) {
  char line[120];
  const int length = std::snprintf(line, sizeof line, "  %-40.*s %10llu\n", static_cast<int>(name.size()),
                                   name.data(), static_cast<unsigned long long>(count));
  text.append(line, static_cast<std::size_t>(length));
}

std::string failure_name(Stage stage, Cause cause) {
  return std::string(policy::word(stage)) + " " + std::string(policy::word(cause));
}

bool is_listed(std::span<const Failure> list, Stage stage, Cause cause) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Failure& one) { return one.stage == stage && one.cause == cause; });
}

}  // namespace

void CoverageMarks::count(const telemetry::ExchangeRecord& record) {
  const policy::Ledger& ledger = *record.ledger;
  ++reasons[static_cast<std::size_t>(ledger.reason)];
  ++endings[static_cast<std::size_t>(record.ending)];
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
    const policy::LedgerEntry& entry = ledger[i];
    if (entry.verdict.retry) ++reasons[static_cast<std::size_t>(entry.verdict.reason)];
    if (const auto* failed = std::get_if<policy::Failed>(&entry.outcome))
      ++failures[static_cast<std::size_t>(failed->stage)][static_cast<std::size_t>(failed->cause)];
  }
}

void CoverageMarks::add(const CoverageMarks& other) {
  for (std::size_t i = 0; i < reasons.size(); ++i) reasons[i] += other.reasons[i];
  for (std::size_t i = 0; i < endings.size(); ++i) endings[i] += other.endings[i];
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
  for (std::size_t i = 0; i < http2.size(); ++i) http2[i] += other.http2[i];
  for (std::size_t i = 0; i < failures.size(); ++i) {
    for (std::size_t j = 0; j < failures[i].size(); ++j) failures[i][j] += other.failures[i][j];
  }
  intercepted += other.intercepted;
  intercepted_again += other.intercepted_again;
}

std::vector<std::string> CoverageMarks::missing(std::uint64_t stories) const {
  std::vector<std::string> names;
  if (stories < enough) return names;
  const auto demand = [&](std::string_view name, std::uint64_t count) {
    if (count * rate < stories) names.push_back(std::string(name) + " (" + std::to_string(count) + ")");
  };
  for (const Reason reason : policy::all_reasons())
    demand(policy::word(reason), reasons[static_cast<std::size_t>(reason)]);
  for (const auto& [stage, cause] : failures_reached)
    demand(failure_name(stage, cause),
           failures[static_cast<std::size_t>(stage)][static_cast<std::size_t>(cause)]);
  for (std::size_t i = 0; i < endings.size(); ++i)
    demand(telemetry::word(static_cast<telemetry::Ending>(i)), endings[i]);
  for (std::size_t i = 0; i < faults.size(); ++i) demand(word(static_cast<Fault>(i)), faults[i]);
  for (std::size_t i = 0; i < http2.size(); ++i) demand(policy::names_of<Http2Mark>[i], http2[i]);
  demand("intercepted", intercepted);
  demand("intercepted, and tried again", intercepted_again);
  return names;
}

std::vector<std::string> CoverageMarks::unexpected() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    for (std::size_t j = 0; j < failures[i].size(); ++j) {
      const auto stage = static_cast<Stage>(i);
      const auto cause = static_cast<Cause>(j);
      if (failures[i][j] == 0 || is_listed(failures_reached, stage, cause) ||
          is_listed(failures_seldom_reached, stage, cause))
        continue;
      names.push_back(failure_name(stage, cause) + " (" + std::to_string(failures[i][j]) + ")");
    }
  }
  return names;
}

std::string CoverageMarks::table() const {
  std::string text = "reasons\n";
  for (std::size_t i = 0; i < reasons.size(); ++i)
    append_row(text, policy::word(static_cast<Reason>(i)), reasons[i]);
  text.append("failures\n");
  for (std::size_t i = 0; i < failures.size(); ++i) {
    for (std::size_t j = 0; j < failures[i].size(); ++j) {
      if (failures[i][j] > 0)
        append_row(text, failure_name(static_cast<Stage>(i), static_cast<Cause>(j)), failures[i][j]);
    }
  }
  text.append("endings\n");
  for (std::size_t i = 0; i < endings.size(); ++i)
    append_row(text, telemetry::word(static_cast<telemetry::Ending>(i)), endings[i]);
  text.append("faults\n");
  for (std::size_t i = 0; i < faults.size(); ++i) append_row(text, word(static_cast<Fault>(i)), faults[i]);
  text.append("HTTP/2\n");
  for (std::size_t i = 0; i < http2.size(); ++i) append_row(text, policy::names_of<Http2Mark>[i], http2[i]);
  text.append("interception\n");
  append_row(text, "intercepted", intercepted);
  append_row(text, "intercepted, and tried again", intercepted_again);
  return text;
}

}  // namespace reprise::simulation
