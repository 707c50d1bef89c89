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
  Duration wait{};  ///< wait before the attempt
};

struct LogLine {
  std::int64_t written = 0;  ///< when the line was written, in nanoseconds since 1970: at the end of the
                             ///< request, or slightly later
  std::string method;
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
  std::optional<int> status;  ///< absent if no status was sent
  telemetry::Ending ending = telemetry::Ending::complete;
  policy::Reason reason = policy::Reason::success;
  std::vector<LoggedAttempt> attempts;  ///< if the line omits attempts, only those before the gap
  bool has_gap = false;
  Duration took{};
  bool tunnel = false;
};

/// A line of reprise's log that does not describe a request: a start, a warning, a rejection.
struct OtherLine {};

/// Why a line cannot be read, and what to do: a sentence without the line number.
struct BadLine {
  std::string why;
  bool broken_off = false;  ///< the line begins like one of the log, but is incomplete
};

using ReadLine = std::variant<LogLine, OtherLine, BadLine>;

/// Parses a line. Precondition: `line` has no newline. Does not throw, whatever the bytes.
ReadLine read_line(std::string_view line);

}  // namespace reprise::tools
