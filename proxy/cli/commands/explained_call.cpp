#include "proxy/cli/commands/explained_call.hpp"

#include <chrono>
#include <variant>

#include "config/keys/keys.hpp"
#include "config/keys/scalar.hpp"
#include "proxy/cli/commands/bad_use.hpp"
#include "proxy/http/grpc/timeout.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/target.hpp"
#include "proxy/policy/match/grpc_pattern.hpp"

namespace reprise::cli {
namespace {

namespace ascii = http::ascii;
using policy::Duration;
using std::chrono::milliseconds;

// Returns the value of grpc-timeout for a time in the form of the configuration (2s) or of the field (2S).
std::string timeout_value(const std::string& given) {
  const auto parsed = config::parse_duration(given);
  const std::optional<Duration> time = parsed ? parsed.value : http::parse_timeout(given);
  if (!time)
    throw BadUse("--grpc-timeout: " + config::in_quotes(given) + " " + parsed.reason +
                 ", or a value of the field grpc-timeout, such as 2S");
  if (*time <= Duration::zero()) throw BadUse("--grpc-timeout: write a time above 0, such as 2s");
  return parsed ? http::format_timeout(*time) : given;
}

// Returns the value of grpc-retry-pushback-ms. Every negative text means "do not retry" (row M76).
std::string pushback_value(const std::string& given) {
  if (given.starts_with('-')) return "-1";
  const auto parsed = config::parse_duration(given);
  if (!parsed)
    throw BadUse("--pushback: " + config::in_quotes(given) + " " + parsed.reason +
                 ", or -1 for a server that asks not to retry");
  return std::to_string(*parsed.value / milliseconds(1));
}

// Returns the name without a leading slash. Throws BadUse if it is not the name of one method.
std::string_view method_name(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  if (!policy::GrpcPattern::parse(name) || name.find('*') != std::string_view::npos)
    throw BadUse("--grpc: " + config::in_quotes(std::string(name)) +
                 " is not a method: write SERVICE/METHOD, such as shop.Catalog/GetItem");
  return name;
}

std::string status_words() {
  std::string words;
  for (const std::string_view word : policy::names_of<policy::GrpcStatus>)
    ascii::append(words, words.empty() ? "" : ", ", word);
  return words;
}

}  // namespace

CLI::Option* add_call_options(CLI::App& command, CallArguments& given) {
  CLI::Option* const call =
      command
          .add_option("--grpc", given.name,
                      "the request is a gRPC call of this method: write --grpc SERVICE/METHOD URL")
          ->type_name("SERVICE/METHOD");
  command
      .add_option("--grpc-timeout", given.timeout, "time that the client gives the call, such as 2s or 2S")
      ->type_name("DURATION")
      ->needs(call);
  command
      .add_option("--grpc-status", given.status,
                  "every attempt ends with this status, as a word or a number (default unavailable)")
      ->type_name("STATUS")
      ->needs(call);
  command
      .add_option("--pushback", given.pushback,
                  "wait that the server asks for (grpc-retry-pushback-ms), such as 200ms; -1: do not retry")
      ->type_name("DURATION")
      ->needs(call);
  command
      .add_flag("--after-message", given.after_message,
                "every attempt ends after the first message of the response")
      ->needs(call);
  return call;
}

CalledMethod called_method(const CallArguments& given, std::string_view url) {
  const std::string name(method_name(given.name));
  if (url.empty())
    throw BadUse("the URL of the upstream is missing: write `reprise explain --grpc " + name +
                 " http://catalog.internal:50051`");
  const auto split = http::split_absolute(url);
  const auto* target = std::get_if<http::Target>(&split);
  const bool has_path =
      target != nullptr && ((!target->path.empty() && target->path != "/") || !target->query.empty());
  if (has_path)
    throw BadUse("--grpc names the path: write only the scheme, the host and the port of the URL");
  if (url.ends_with('/')) url.remove_suffix(1);
  CalledMethod called{std::string(url) + "/" + name, {"content-type: application/grpc", "te: trailers"}};
  if (!given.timeout.empty()) called.fields.push_back("grpc-timeout: " + timeout_value(given.timeout));
  return called;
}

std::optional<policy::Instant> call_deadline(const http::RequestHead& head) {
  const auto time = http::parse_timeout(http::timeout_of(head));
  return time ? std::optional(policy::Instant{} + *time) : std::nullopt;
}

std::optional<policy::GrpcStatus> ending_of(const CallArguments& given) {
  if (given.status.empty()) return std::nullopt;
  const auto status = policy::parse_grpc_status(given.status);
  if (!status)
    throw BadUse("unknown gRPC status " + given.status + "; the statuses are " + status_words() +
                 ", or a number from 0 to 16");
  return status;
}

std::string pushback_field(const CallArguments& given) {
  return "grpc-retry-pushback-ms: " + pushback_value(given.pushback);
}

}  // namespace reprise::cli
