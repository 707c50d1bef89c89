// Parses one JSON line of the access log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/decision/reason.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::tools {

using policy::Duration;

struct LoggedAttempt {
  policy::Outcome outcome;
  Duration took{};
  Duration wait{};  ///< before the attempt
};

struct LogLine {
  std::int64_t written = 0;  ///< nanoseconds since 1970: the end of the request, or slightly later
  std::string method;
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
  std::optional<int> status;  ///< absent if none was sent
  telemetry::Ending ending = telemetry::Ending::answered;
  policy::Reason reason = policy::Reason::success;
  std::vector<LoggedAttempt> attempts;  ///< only those before the gap if the line leaves some out
  bool has_gap = false;
  Duration took{};
  bool tunnel = false;
};

/// A line of reprise's log that is not about a request: a start, a warning, a rejection.
struct OtherLine {};

/// Why a line cannot be read, and what to do: a sentence without the line's number.
struct BadLine {
  std::string why;
  bool broken_off = false;  ///< begins like a line of the log and is cut off
};

using ReadLine = std::variant<LogLine, OtherLine, BadLine>;

/// Precondition: `line` has no newline. Does not throw, whatever bytes it gets.
ReadLine read_line(std::string_view line);

}  // namespace reprise::tools
