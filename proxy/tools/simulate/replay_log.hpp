// An access log as a world: its requests come again when they came, and attempts meet what they met.
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

/// A log that was read. About 50 bytes a request, and 12 an attempt.
struct ReplayLog {
  struct Attempt {
    std::uint32_t after = 0;  ///< microseconds from the request to its start
    std::uint32_t took = 0;   ///< microseconds
    std::uint16_t outcome = 0;
  };
  struct Request {
    std::int64_t at = 0;  ///< nanoseconds from the first one
    std::uint64_t first = 0;
    std::uint32_t took = 0;  ///< microseconds
    std::uint32_t kind = 0;
    std::uint8_t attempts = 0;
    bool gap = false;   ///< more than these are known to have been made
    bool good = false;  ///< how it went
    policy::Reason reason = policy::Reason::success;
  };

  std::vector<RequestKind> kinds;  ///< those that differ for a route table
  std::vector<policy::Outcome> outcomes;
  std::vector<Attempt> attempts;
  std::vector<Request> requests;  ///< in the order in which they came
  Duration duration{};            ///< from the first to the last, and a little more
  Duration usual{};               ///< the median of what a good attempt took
  std::uint64_t lines = 0;
  std::uint64_t other_lines = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t left_out = 0;  ///< ended by the client, or broken in the body
  bool half_line = false;      ///< the last one, which was left out
};

/// Why a log cannot be played.
struct LogFault {
  std::uint64_t line = 0;  ///< from 1; 0: the log as a whole
  std::string why;
};

inline constexpr std::size_t longest_line = std::size_t{1024} * 1024;
inline constexpr std::size_t most_logged = 5'000'000;
inline constexpr std::size_t most_kinds = 10'000;
inline constexpr Duration longest_log = std::chrono::hours(24 * 366);

/// `tables`: the configurations that it will be played with; requests that none of them tells apart are one
/// kind. `lenient`: a line that cannot be read is left out and counted. The last line may be half of one
/// anyway: the log was copied while it was written.
std::variant<ReplayLog, LogFault> read_log(std::istream&,
                                           const std::vector<const policy::RouteTable*>& tables,
                                           bool lenient);

/// How it went by the log itself.
Measures as_logged(const ReplayLog&);

/// What attempts meet that the log does not know.
enum class Beyond : std::uint8_t {
  repeat,   ///< the last outcome of their request
  recover,  ///< 200, after the usual time
};

class RecordedWorld final : public World {
 public:
  /// The log must outlive it.
  RecordedWorld(const ReplayLog& log, Beyond beyond) : log_(log), beyond_(beyond) {}

  std::span<const RequestKind> kinds() const override { return log_.kinds; }
  std::uint64_t clients() const override { return 1; }
  std::optional<Arrival> next() override;
  Begun begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&, Measures&) override;
  void free_worker(Instant, EventQueue&) override {}
  const policy::Outcome& outcome(std::uint16_t place) const override { return log_.outcomes[place]; }

 private:
  const ReplayLog& log_;
  const Beyond beyond_;
  std::size_t next_ = 0;
};

}  // namespace reprise::tools
