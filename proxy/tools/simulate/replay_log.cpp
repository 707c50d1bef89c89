#include "proxy/tools/simulate/replay_log.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "proxy/tools/simulate/success.hpp"

namespace reprise::tools {
namespace {

using policy::Cause;
using policy::Failed;
using policy::Outcome;
using policy::Responded;

// Indexes of two outcomes that are always in the table of outcomes: the assumed success of an attempt that is
// not in the log, and the failure of a request that was never sent.
constexpr std::uint16_t recovered = 0;
constexpr std::uint16_t unreachable = 1;

std::uint32_t microseconds(Duration span) {
  const auto count = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::uint32_t>::max()));
}

bool is_good(const LogLine& line) {
  return line.ending == telemetry::Ending::complete && line.status && is_success(*line.status, line.grpc);
}

// Returns true if the log does not show how the request would have ended: the client cancelled the request,
// or the response broke off after it had begun.
bool is_open(const LogLine& line) {
  if (line.ending != telemetry::Ending::complete) return true;
  return std::any_of(line.attempts.begin(), line.attempts.end(), [](const LoggedAttempt& attempt) {
    const auto* failed = std::get_if<Failed>(&attempt.outcome);
    return failed != nullptr && (failed->stage == policy::Stage::body || failed->cause == Cause::cancelled);
  });
}

// Returns a different number for each response that a log distinguishes; the numbers grow with the HTTP
// status.
unsigned code_of(const Responded& responded) {
  const unsigned call = responded.grpc ? 1 + static_cast<unsigned>(*responded.grpc) : 0;
  const auto status = static_cast<unsigned>(responded.status);
  constexpr unsigned calls = 1 + static_cast<unsigned>(policy::grpc_status_count);
  return (status * calls + call) * 2 + (responded.hints.said_no ? 1 : 0);
}

bool was_turned_away(const LogLine& line) {
  return policy::unattempted(line.reason) == policy::Unattempted::unavailable;
}

class Reader {
 public:
  Reader(const std::vector<const policy::RouteTable*>& tables, bool lenient)
      : tables_(tables), lenient_(lenient) {
    log_.outcomes = {Responded{200, {}}, Failed{policy::Stage::connect, Cause::refused}};
  }

  /// Reads one line. `whole` is false if the line has no newline at its end. Returns false if an error ends
  /// the reading of the log.
  bool take(std::string_view text, bool whole) {
    ++log_.lines;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) return true;
    const ReadLine read = read_line(text);
    if (const auto* bad = std::get_if<BadLine>(&read)) return refuse(*bad, whole);
    if (const auto* line = std::get_if<LogLine>(&read)) return add(*line);
    ++log_.other_lines;
    return true;
  }

  bool too_long() {
    return refuse({"the line is longer than 1 MiB, so it does not come from reprise"}, true);
  }

  std::variant<ReplayLog, LogFault> end() {
    if (fault_) return *fault_;
    if (log_.requests.empty()) {
      return LogFault{
          0,
          "the log has no request: --replay needs the access log of reprise run, with log: {format: json, "
          "level: info}"};
    }
    sort();
    if (log_.duration > longest_log) {
      return LogFault{
          0, "the log spans more than a year: check that it is one log and that its clock was right"};
    }
    return std::move(log_);
  }

 private:
  bool refuse(const BadLine& bad, bool whole) {
    if (!whole && bad.broken_off) {
      log_.half_line = true;
      return true;
    }
    if (lenient_) {
      ++log_.bad_lines;
      return true;
    }
    fault_ = LogFault{log_.lines, bad.why + " (--lenient skips such lines)"};
    return false;
  }

  bool add(const LogLine& line) {
    if (is_open(line)) {
      ++log_.left_out;
      return true;
    }
    if (line.attempts.empty() && !was_turned_away(line)) {
      ++log_.other_lines;
      return true;
    }
    if (log_.requests.size() >= most_logged) {
      fault_ =
          LogFault{log_.lines,
                   "more than 5000000 requests: replay a part of the log, such as head -n 5000000 FILE | "
                   "reprise simulate --replay -"};
      return false;
    }
    const auto kind = kind_of(line);
    if (!kind) return false;
    ReplayLog::Request request;
    request.at = line.written - line.took.count();
    request.first = log_.attempts.size();
    request.took = microseconds(line.took);
    request.kind = *kind;
    request.attempts = static_cast<std::uint8_t>(std::min<std::size_t>(line.attempts.size(), 255));
    request.gap = line.has_gap;
    request.good = is_good(line);
    request.reason = line.reason;
    Duration after{};
    for (std::size_t i = 0; i < request.attempts; ++i) {
      const LoggedAttempt& attempt = line.attempts[i];
      after += attempt.wait;
      log_.attempts.push_back({microseconds(after), microseconds(attempt.took), outcome_of(attempt.outcome)});
      after += attempt.took;
      const auto* responded = std::get_if<Responded>(&attempt.outcome);
      if (responded != nullptr && responded->status < 400 && !policy::is_failed_call(*responded))
        good_.add(attempt.took);
    }
    log_.requests.push_back(request);
    return true;
  }

  std::optional<std::uint32_t> kind_of(const LogLine& line) {
    RequestKind kind{line.method, line.host, line.port, line.path, {}, {}, 1, line.tunnel, line.call};
    std::string key = line.method + ' ' + line.host + ':' + std::to_string(line.port) +
                      (line.tunnel ? " t"
                       : line.call ? " c"
                                   : " r");
    policy::RequestView view{line.method, line.host, line.port, line.path, {}, &nothing_};
    view.is_call = line.call;
    for (const policy::RouteTable* table : tables_) key += ' ' + std::to_string(table->find(view));
    const auto [found, fresh] =
        kinds_.try_emplace(std::move(key), static_cast<std::uint32_t>(log_.kinds.size()));
    if (!fresh) return found->second;
    if (log_.kinds.size() >= most_kinds) {
      fault_ = LogFault{log_.lines,
                        "more than 10000 combinations of host, method and route: replay a part of the log"};
      return std::nullopt;
    }
    log_.kinds.push_back(std::move(kind));
    return found->second;
  }

  std::uint16_t outcome_of(const Outcome& outcome) {
    const auto* responded = std::get_if<Responded>(&outcome);
    const auto* failed = std::get_if<Failed>(&outcome);
    const unsigned code = responded != nullptr
                              ? code_of(*responded)
                              : code_of({1000, {}}) + static_cast<unsigned>(failed->stage) * 256 +
                                    static_cast<unsigned>(failed->cause);
    const auto [found, fresh] = outcomes_.try_emplace(code, static_cast<std::uint16_t>(log_.outcomes.size()));
    if (fresh) log_.outcomes.push_back(outcome);
    return found->second;
  }

  // Sorts the requests by arrival. The log has them in the order in which they ended.
  void sort() {
    auto& requests = log_.requests;
    std::stable_sort(requests.begin(), requests.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    const std::int64_t first = requests.front().at;
    for (ReplayLog::Request& request : requests) request.at -= first;
    log_.duration = std::max<Duration>(Duration(requests.back().at + 1), std::chrono::milliseconds(100));
    log_.usual = good_.count() == 0 ? std::chrono::milliseconds(50) : good_.percentile(0.5);
  }

  class NoFields final : public policy::FieldLines {
   public:
    bool has(std::string_view, std::string_view) const override { return false; }
  };

  const std::vector<const policy::RouteTable*>& tables_;
  const bool lenient_;
  const NoFields nothing_;
  ReplayLog log_;
  Histogram good_;
  std::optional<LogFault> fault_;
  std::unordered_map<std::string, std::uint32_t> kinds_;
  std::unordered_map<unsigned, std::uint16_t> outcomes_;
};

}  // namespace

std::variant<ReplayLog, LogFault> read_log(std::istream& stream,
                                           const std::vector<const policy::RouteTable*>& tables,
                                           bool lenient) {
  Reader reader(tables, lenient);
  std::string kept;
  std::string block(std::size_t{64} * 1024, '\0');
  bool skipping = false;
  bool goes_on = true;
  while (goes_on && stream.good()) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    std::string_view rest(block.data(), static_cast<std::size_t>(stream.gcount()));
    while (goes_on && !rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (!skipping) kept.append(rest.substr(0, end));
      if (!skipping && kept.size() > longest_line) {
        skipping = true;
        kept.clear();
      }
      if (end == std::string_view::npos) break;
      goes_on = skipping ? reader.take({}, true) && reader.too_long() : reader.take(kept, true);
      kept.clear();
      skipping = false;
      rest.remove_prefix(end + 1);
    }
  }
  if (goes_on && stream.bad()) return LogFault{0, "the log cannot be read to its end"};
  if (goes_on && skipping) goes_on = reader.take({}, true) && reader.too_long();
  if (goes_on && !kept.empty()) static_cast<void>(reader.take(kept, false));
  return reader.end();
}

Measures as_logged(const ReplayLog& log) {
  Measures measures;
  measures.policy = "as it was";
  measures.step = step_of(log.duration);
  measures.steps.resize(static_cast<std::size_t>((log.duration - Duration(1)) / measures.step) + 1);
  for (const ReplayLog::Request& request : log.requests) {
    ++measures.requests;
    ++measures.decided_by_log;
    ++measures.ended[static_cast<std::size_t>(request.reason)];
    Step& step = measures.steps[static_cast<std::size_t>(Duration(request.at) / measures.step)];
    ++step.requests;
    const Duration took = std::chrono::microseconds(request.took);
    measures.latency_of_all.add(took);
    if (request.good) {
      ++step.succeeded;
      ++measures.succeeded;
      measures.latency.add(took);
    }
    measures.attempts += request.attempts;
    if (request.attempts > 0) measures.retries += request.attempts - 1U;
    for (std::uint64_t i = request.first; i < request.first + request.attempts; ++i) {
      const Duration at = Duration(request.at) + std::chrono::microseconds(log.attempts[i].after);
      const auto place = static_cast<std::size_t>(at / measures.step);
      if (place < measures.steps.size()) ++measures.steps[place].attempts;
    }
  }
  return measures;
}

std::optional<Arrival> RecordedWorld::next() {
  if (next_ >= log_.requests.size()) return std::nullopt;
  const ReplayLog::Request& request = log_.requests[next_];
  return Arrival{Instant{} + Duration(request.at), request.kind, 0, next_++};
}

AttemptStart RecordedWorld::begin(const Ticket& ticket, const Arrival& arrival, unsigned nth, Instant now,
                                  EventQueue& events, Measures& measures) {
  const ReplayLog::Request& request = log_.requests[arrival.record];
  ReplayLog::Attempt meets{0, microseconds(log_.usual), recovered};
  if (nth <= request.attempts) {
    meets = log_.attempts[request.first + nth - 1];
  } else {
    ++measures.assumed;
    if (beyond_ == Beyond::repeat) {
      meets = request.attempts > 0 ? log_.attempts[request.first + request.attempts - 1]
                                   : ReplayLog::Attempt{0, 1000, unreachable};
    }
  }
  const auto* failed = std::get_if<Failed>(&log_.outcomes[meets.outcome]);
  const bool silent = failed != nullptr && failed->stage >= policy::Stage::send &&
                      (failed->cause == Cause::attempt_timeout || failed->cause == Cause::response_timeout);
  // The logged attempt timed out. In the replay, the timeouts of the simulated policy decide when the attempt
  // ends, so its end is not known here.
  if (silent) return {};
  const Instant ends = now + std::chrono::microseconds(meets.took);
  events.push({Event::Kind::reply, meets.outcome, ticket, ends});
  return {ends};
}

}  // namespace reprise::tools
