#include "proxy/tools/simulate/log_line.hpp"

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <cmath>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/match/status_range.hpp"

namespace reprise::tools {
namespace {

namespace json = boost::json;

/// An error in a part of a log line. Thrown and caught only in this file.
struct LineError {
  std::string why;
};

constexpr std::size_t most_shown = 40;

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, most_shown)) out += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + out + (text.size() > most_shown ? "...\"" : "\"");
}

const json::value& member(const json::object& of, std::string_view name) {
  const json::value* const found = of.if_contains(name);
  if (found == nullptr) throw LineError{"the line has no \"" + std::string(name) + "\""};
  return *found;
}

std::string_view text_of(const json::object& of, std::string_view name) {
  const json::string* const text = member(of, name).if_string();
  if (text == nullptr) throw LineError{"\"" + std::string(name) + "\" is not a string"};
  return {text->data(), text->size()};
}

double number_of(const json::object& of, std::string_view name, double highest) {
  json::error_code failed;
  const auto number = member(of, name).to_number<double>(failed);
  if (failed || !(number >= 0) || number > highest)
    throw LineError{"\"" + std::string(name) + "\" is not a number in the allowed range"};
  return number;
}

Duration span_of(const json::object& of, std::string_view name) {
  constexpr double week = 7 * 86'400e3;
  return Duration(std::llround(number_of(of, name, week) * 1e6));
}

template <typename Enum>
Enum word_of(const json::object& of, std::string_view name) {
  const std::string_view word = text_of(of, name);
  for (std::size_t i = 0; i < policy::count_of<Enum>; ++i) {
    if (policy::names_of<Enum>[i] == word) return static_cast<Enum>(i);
  }
  throw LineError{"\"" + std::string(name) + "\" is " + shown(word) +
                  ", which this version does not know: the log comes from another version of reprise; replay "
                  "it with that version"};
}

unsigned digits(std::string_view text, std::size_t at, std::size_t count) {
  unsigned number = 0;
  const char* const end = text.data() + at + count;
  const auto [stopped, failed] = std::from_chars(text.data() + at, end, number);
  if (failed != std::errc() || stopped != end) throw LineError{"\"time\" is not a valid time"};
  return number;
}

// Parses a time in the format of the access log: 2026-01-02T10:03:12.345Z.
std::int64_t time_of(std::string_view text) {
  if (text.size() != 24 || text[4] != '-' || text[10] != 'T' || text[19] != '.' || text[23] != 'Z')
    throw LineError{"\"time\" is " + shown(text) + ", not a time such as 2026-01-02T10:03:12.345Z"};
  namespace chrono = std::chrono;
  const chrono::year_month_day day{chrono::year(static_cast<int>(digits(text, 0, 4))),
                                   chrono::month(digits(text, 5, 2)), chrono::day(digits(text, 8, 2))};
  // Only times of these years fit into 64 bits as nanoseconds since 1970.
  if (!day.ok() || day.year() < chrono::year(1970) || day.year() > chrono::year(2261))
    throw LineError{"\"time\" is not a valid date"};
  const std::int64_t days = chrono::sys_days(day).time_since_epoch().count();
  const std::int64_t seconds =
      ((days * 24 + digits(text, 11, 2)) * 60 + digits(text, 14, 2)) * 60 + digits(text, 17, 2);
  return (seconds * 1000 + digits(text, 20, 3)) * 1'000'000;
}

// Returns the status of a gRPC call. Logs of versions without gRPC have none. A status of a later version
// counts as `unknown`, as gRPC demands.
std::optional<policy::GrpcStatus> call_status(const json::object& of, std::string_view name) {
  const json::value* const found = of.if_contains(name);
  const json::string* const word = found == nullptr ? nullptr : found->if_string();
  if (word == nullptr) return std::nullopt;
  return policy::grpc_status_of({word->data(), word->size()}).value_or(policy::GrpcStatus::unknown);
}

// Reads the object that describes the gRPC call. The path may be missing although the method is known.
void take_call(const json::object& of, LogLine& line) {
  const json::value* const found = of.if_contains("grpc");
  const json::object* const call = found == nullptr ? nullptr : found->if_object();
  if (call == nullptr) return;
  line.call = true;
  line.grpc = call_status(*call, "status");
  const json::value* const service = call->if_contains("service");
  const json::value* const method = call->if_contains("method");
  if (of.contains("path") || service == nullptr || method == nullptr) return;
  if (service->is_string() && method->is_string())
    line.path = "/" + std::string(service->get_string()) + "/" + std::string(method->get_string());
}

LoggedAttempt attempt_of(const json::value& value) {
  const json::object* const of = value.if_object();
  if (of == nullptr) throw LineError{"\"attempts\" does not have the form of a log of reprise"};
  LoggedAttempt attempt;
  if (of->contains("error")) {
    policy::Failed failed{word_of<policy::Stage>(*of, "stage"), word_of<policy::Cause>(*of, "error")};
    // The log does not say how the route judges a refused stream, so the default is assumed.
    failed.unprocessed = policy::proves_unprocessed(failed.cause, policy::RefusedStream::trust);
    attempt.outcome = failed;
  } else {
    policy::Responded responded{static_cast<int>(number_of(*of, "status", policy::highest_status)), {}};
    responded.grpc = call_status(*of, "grpc");
    responded.hints.said_no = word_of<policy::Reason>(*of, "reason") == policy::Reason::upstream_said_no;
    attempt.outcome = responded;
  }
  attempt.took = span_of(*of, "ms");
  attempt.wait = span_of(*of, "wait_ms");
  return attempt;
}

void take_attempts(const json::object& of, const json::array& attempts, LogLine& line) {
  unsigned next = 1;
  for (const json::value& value : attempts) {
    const LoggedAttempt attempt = attempt_of(value);
    const auto number = static_cast<unsigned>(number_of(value.get_object(), "n", 1e9));
    if (number != next++) {
      line.has_gap = true;
      return;
    }
    line.attempts.push_back(attempt);
  }
  line.has_gap = of.contains("attempts_left_out");
}

LogLine request_of(const json::object& of, const json::array& attempts) {
  LogLine line;
  line.written = time_of(text_of(of, "time"));
  line.method = text_of(of, "method");
  line.host = text_of(of, "host");
  // Logs of builds before 0.1.0 write `answered` for a complete response.
  line.ending = text_of(of, "ending") == "answered" ? telemetry::Ending::complete
                                                    : word_of<telemetry::Ending>(of, "ending");
  line.reason = word_of<policy::Reason>(of, "reason");
  if (of.contains("port")) line.port = static_cast<std::uint16_t>(number_of(of, "port", 65535));
  if (of.contains("path")) line.path = text_of(of, "path");
  if (!member(of, "status").is_null())
    line.status = static_cast<int>(number_of(of, "status", policy::highest_status));
  line.took = span_of(of, "ms");
  line.tunnel = of.contains("tunnel");
  take_call(of, line);
  take_attempts(of, attempts, line);
  return line;
}

BadLine no_json(std::string_view line, json::error_code why) {
  const bool ours = line.starts_with("{\"time\":\"");
  if (why == json::error::incomplete && ours) return {"the line is incomplete", true};
  if (line.starts_with("\x1f\x8b"))
    return {"the file is compressed: zcat FILE | reprise simulate --replay -"};
  if (!line.starts_with("{")) return {"the line is not JSON: write the log with log: {format: json}"};
  return {"the line is not JSON: " + why.message()};
}

}  // namespace

ReadLine read_line(std::string_view line) {
  std::array<unsigned char, 16384> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): only a buffer
  json::monotonic_resource memory(room.data(), room.size());
  json::error_code failed;
  const json::value value = json::parse({line.data(), line.size()}, failed, &memory);
  if (failed) return no_json(line, failed);
  const json::object* const of = value.if_object();
  if (of == nullptr || !of->contains("time") || !of->contains("level"))
    return BadLine{
        "the line is JSON, but does not come from reprise: --replay needs the access log of reprise run"};
  const json::value* const attempts = of->if_contains("attempts");
  if (attempts == nullptr || !attempts->is_array()) return OtherLine{};
  try {
    return request_of(*of, attempts->get_array());
  } catch (const LineError& wrong) {
    return BadLine{wrong.why};
  }
}

}  // namespace reprise::tools
