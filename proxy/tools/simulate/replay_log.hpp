// The world of a replay: requests arrive at the times that an access log records, and attempts have the
// recorded outcomes.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/tools/simulate/log_line.hpp"
#include "proxy/tools/simulate/world.hpp"

namespace reprise::tools {

/// A parsed log. Memory: about 50 bytes per request and 12 per attempt.
struct ReplayLog {
  struct Attempt {
    /// Time from the arrival of the request to the start of the attempt, in microseconds.
    std::uint32_t after = 0;
    std::uint32_t took = 0;  ///< duration in microseconds
    std::uint16_t outcome = 0;
  };
  struct Request {
    std::int64_t at = 0;  ///< time since the first request, in nanoseconds
    std::uint64_t first = 0;
    std::uint32_t took = 0;  ///< duration in microseconds
    std::uint32_t kind = 0;
    std::uint8_t attempts = 0;
    bool gap = false;   ///< the log omits some attempts of the request
    bool good = false;  ///< the request succeeded
    policy::Reason reason = policy::Reason::success;
  };

  std::vector<RequestKind> kinds;  ///< kinds of requests that a route table can distinguish
  std::vector<policy::Outcome> outcomes;
  std::vector<Attempt> attempts;
  std::vector<Request> requests;  ///< requests in the order of arrival
  Duration duration{};            ///< from the first request to the last, plus a small margin
  Duration usual{};               ///< median time of a successful attempt
  std::uint64_t lines = 0;
  std::uint64_t other_lines = 0;
  std::uint64_t bad_lines = 0;
  /// Requests that the client cancelled, or whose response body broke off; they are not replayed.
  std::uint64_t left_out = 0;
  bool half_line = false;  ///< the last line was incomplete and was skipped
};

/// The reason why a log cannot be replayed.
struct LogFault {
  std::uint64_t line = 0;  ///< line number, counted from 1; 0 for the log as a whole
  std::string why;
};

inline constexpr std::size_t longest_line = std::size_t{1024} * 1024;
inline constexpr std::size_t most_logged = 5'000'000;
inline constexpr std::size_t most_kinds = 10'000;
inline constexpr Duration longest_log = std::chrono::hours(24 * 366);

/// Reads a log. `tables` are the route tables of the configurations that the log will be replayed with.
/// Requests with the same method, host and port are of the same kind if each table selects the same route for
/// them. If `lenient`, lines that cannot be read are skipped and counted. The last line may always be
/// incomplete, because the log may have been copied while it was being written.
std::variant<ReplayLog, LogFault> read_log(std::istream&,
                                           const std::vector<const policy::RouteTable*>& tables,
                                           bool lenient);

/// Returns the results that the log records, without a simulation.
Measures as_logged(const ReplayLog&);

/// The outcome that a replay assumes for attempts that are not in the log.
enum class Beyond : std::uint8_t {
  repeat,   ///< the last recorded outcome of the same request
  recover,  ///< 200, after the median time of a successful attempt
};

class RecordedWorld final : public World {
 public:
  /// Precondition: the log outlives the world.
  RecordedWorld(const ReplayLog& log, Beyond beyond) : log_(log), beyond_(beyond) {}

  std::span<const RequestKind> kinds() const override { return log_.kinds; }
  std::uint64_t clients() const override { return 1; }
  std::optional<Arrival> next() override;
  AttemptStart begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&,
                     Measures&) override;
  void free_worker(Instant, EventQueue&) override {}
  const policy::Outcome& outcome(std::uint16_t place) const override { return log_.outcomes[place]; }

 private:
  const ReplayLog& log_;
  const Beyond beyond_;
  std::size_t next_ = 0;
};

}  // namespace reprise::tools
