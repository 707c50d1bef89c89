// One line of the access log in its JSON form, read back.
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
  Duration wait{};  ///< before it
};

struct LogLine {
  std::int64_t written = 0;  ///< nanoseconds since 1970: the end of the request, or a little later
  std::string method;
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
  std::optional<int> status;  ///< absent: none was sent
  telemetry::Ending ending = telemetry::Ending::answered;
  policy::Reason reason = policy::Reason::success;
  std::vector<LoggedAttempt> attempts;  ///< those before the gap, where the line leaves some out
  bool has_gap = false;
  Duration took{};
  bool tunnel = false;
};

/// A line of ours that is of no request: a start, a warning, a rejection.
struct OtherLine {};

/// What is wrong with a line, and what to do: a sentence without its place.
struct BadLine {
  std::string why;
  bool broken_off = false;  ///< it begins like one of ours and ends in the middle
};

using ReadLine = std::variant<LogLine, OtherLine, BadLine>;

/// `line` without its end. Never throws for any bytes.
ReadLine read_line(std::string_view line);

}  // namespace reprise::tools
