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
  /// Time at which the line was written, in nanoseconds since 1970: at the end of the request or slightly
  /// later.
  std::int64_t written = 0;
  std::string method;
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
  std::optional<int> status;  ///< status that was sent to the client; absent if none was sent
  telemetry::Ending ending = telemetry::Ending::complete;
  policy::Reason reason = policy::Reason::success;
  /// The attempts of the request. If the line omits attempts, the list ends before the first omitted attempt.
  std::vector<LoggedAttempt> attempts;
  bool has_gap = false;
  Duration took{};
  bool tunnel = false;
  bool call = false;                         ///< the request is a gRPC call
  std::optional<policy::GrpcStatus> grpc{};  ///< status of the call that the client got
};

/// A line of reprise's log that does not describe a request, such as a startup message or a warning.
struct OtherLine {};

/// A line that cannot be read. `why` is an error message without the line number.
struct BadLine {
  std::string why;
  bool broken_off = false;  ///< the line begins like a line of reprise's log, but is incomplete
};

using ReadLine = std::variant<LogLine, OtherLine, BadLine>;

/// Parses a line. Precondition: `line` has no newline. Does not throw, whatever the bytes.
ReadLine read_line(std::string_view line);

}  // namespace reprise::tools
