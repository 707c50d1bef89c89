// Fuzz target: scalar values of a configuration. A parsed value is printed in a form that parses to the same
// value. A rejected text gives a reason. If the reason suggests a value, this value is accepted or fails for
// another reason.
#include <cmath>

#include "config/keys/address.hpp"
#include "config/keys/patterns.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace config;

/// Checks that the printed form of a value parses to the same value.
template <typename Value, typename Parse, typename Print, typename Equal>
void judge(std::string_view text, Parse parse, Print print, Equal equal) {
  const Parsed<Value> parsed = parse(text);
  law(parsed.value.has_value() == parsed.reason.empty(), "a value, or a reason");
  if (!parsed) {
    law(parsed.reason.size() < 200 && parsed.reason.find('\n') == std::string::npos,
        "a reason is one short line");
    return;
  }
  const std::string printed = print(*parsed.value);
  const Parsed<Value> again = parse(printed);
  law(again.value.has_value() && equal(*again.value, *parsed.value),
      "what is printed reads to the same value");
  law(print(*again.value) == printed, "and is printed the same");
}

template <typename Value, typename Parse, typename Print>
void judge(std::string_view text, Parse parse, Print print) {
  judge<Value>(text, parse, print, [](const Value& a, const Value& b) { return a == b; });
}

/// Checks a suggestion of a single value: it must be accepted, or fail for another reason than the original
/// text.
template <typename Parse>
void judge_suggestion(std::string_view text, Parse parse) {
  const auto parsed = parse(text);
  if (parsed.suggestion.empty() || parsed.suggestion.find(" or ") != std::string::npos) return;
  const auto suggested = parse(parsed.suggestion);
  law(suggested || !suggested.suggestion.empty() || suggested.reason != parsed.reason,
      "a suggestion gets further");
}

void judge_numbers(std::string_view text) {
  judge<Duration>(text, parse_duration, duration_text);
  judge<std::uint64_t>(text, parse_size, size_text);
  judge<double>(text, parse_ratio, ratio_text);
  judge<double>(text, parse_rate, rate_text);
  judge<double>(text, parse_number, number_text);
  judge<bool>(text, parse_boolean, [](bool yes) { return std::string(yes ? "true" : "false"); });
  judge<std::uint64_t>(text, parse_whole, [](std::uint64_t number) { return std::to_string(number); });
  if (const auto duration = parse_duration(text))
    law(*duration.value >= Duration::zero(), "no negative durations");
  if (const auto ratio = parse_ratio(text)) law(*ratio.value >= 0 && *ratio.value <= 1, "a ratio is 0 to 1");
  if (const auto number = parse_number(text))
    law(std::isfinite(*number.value) && *number.value >= 0, "numbers are finite");
  if (const auto statuses = parse_statuses(text)) {
    law(statuses.value->first >= 200 && statuses.value->first <= statuses.value->last &&
            statuses.value->last <= 999,
        "statuses are 200 to 999");
  }
  judge_suggestion(text, parse_duration);
  judge_suggestion(text, parse_size);
  judge_suggestion(text, parse_whole);
  judge_suggestion(text, parse_boolean);
}

void judge_addresses(std::string_view text) {
  judge<Endpoint>(text, parse_endpoint, endpoint_text, [](const Endpoint& a, const Endpoint& b) {
    return a.address == b.address && a.port == b.port;
  });
  judge<std::pair<std::uint16_t, std::uint16_t>>(text, parse_ports, ports_text);
  judge<std::string>(text, parse_network, [](const std::string& network) { return network; });
  judge<std::string>(text, parse_host, [](const std::string& host) { return host; });
  judge<GatewayUpstream>(text, parse_upstream, upstream_text,
                         [](const GatewayUpstream& a, const GatewayUpstream& b) {
                           return a.host == b.host && a.port == b.port && a.path_prefix == b.path_prefix;
                         });
  if (const auto endpoint = parse_endpoint(text))
    law(endpoint.value->port == 0 || collide(*endpoint.value, *endpoint.value),
        "an endpoint collides with itself");
  if (const auto upstream = parse_upstream(text)) law(upstream.value->port != 0, "an upstream has a port");
}

void judge_patterns(std::string_view text) {
  const auto itself = [](const std::string& name) { return name; };
  judge<std::string>(text, parse_name, itself);
  judge<std::string>(text, parse_route_name, itself);
  judge<std::string>(text, parse_method, itself);
  judge<policy::HostPattern>(
      text, parse_host_pattern, [](const policy::HostPattern& pattern) { return pattern.text; },
      [](const policy::HostPattern& a, const policy::HostPattern& b) { return a.text == b.text; });
  judge<policy::PathPattern>(
      text, parse_path, [](const policy::PathPattern& pattern) { return pattern.text(); },
      [](const policy::PathPattern& a, const policy::PathPattern& b) { return a.text() == b.text(); });
  for (std::size_t i = 0; i < policy::count_of<policy::Condition::Kind>; ++i) {
    const auto kind = static_cast<policy::Condition::Kind>(i);
    judge<policy::Condition>(
        text, [kind](std::string_view given) { return parse_condition(kind, given); }, condition_text);
  }
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_numbers(text);
  judge_addresses(text);
  judge_patterns(text);
  return 0;
}
