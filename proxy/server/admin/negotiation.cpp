#include "proxy/server/admin/negotiation.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::server {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Removes the text up to the first separator from `rest`. Returns the text before the separator.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Returns a weight such as `0`, `1` or `0.5`, with at most three decimals, in thousandths (RFC 9110 12.4.2).
// Returns 0 if malformed.
int weight_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return 0;
  int weight = (text[0] - '0') * 1000;
  if (text.size() == 1) return weight;
  if (text[1] != '.') return 0;
  int worth = 100;
  for (const char digit : text.substr(2)) {
    if (digit < '0' || digit > '9') return 0;
    weight += (digit - '0') * worth;
    worth /= 10;
  }
  return std::min(weight, 1000);
}

/// One item of an Accept or Accept-Encoding list.
struct Item {
  std::string name;     ///< in lower case
  std::string version;  ///< value of the parameter `version`, without quotes; empty if absent
  int weight = 1000;
};

Item read_item(std::string_view text) {
  Item item;
  item.name = policy::lower(take_until(text, ';'));
  while (!text.empty()) {
    std::string_view parameter = take_until(text, ';');
    const std::string name = policy::lower(take_until(parameter, '='));
    std::string_view value = trimmed(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    if (name == "q") item.weight = weight_of(value);
    if (name == "version") item.version = value;
  }
  return item;
}

bool is_open_metrics(const Item& item) {
  return item.name == "application/openmetrics-text" && (item.version.empty() || item.version == "1.0.0");
}

bool is_text(const Item& item) {
  if (item.name == "text/plain") return item.version.empty() || item.version == "0.0.4";
  return item.name == "*/*" || item.name == "text/*";
}

}  // namespace

telemetry::Exposition exposition_for(std::string_view accept) {
  telemetry::Exposition best = telemetry::Exposition::text;
  int weight = 0;
  while (!accept.empty()) {
    const Item item = read_item(take_until(accept, ','));
    if (item.weight <= weight || (!is_open_metrics(item) && !is_text(item))) continue;
    weight = item.weight;
    best = is_open_metrics(item) ? telemetry::Exposition::open_metrics : telemetry::Exposition::text;
  }
  return best;
}

bool takes_gzip(std::string_view accept_encoding) {
  std::optional<int> gzip;
  std::optional<int> any;
  std::optional<int> identity;
  while (!accept_encoding.empty()) {
    const Item item = read_item(take_until(accept_encoding, ','));
    if (item.name == "gzip" || item.name == "x-gzip") gzip = item.weight;
    if (item.name == "*") any = item.weight;
    if (item.name == "identity") identity = item.weight;
  }
  const int weight = gzip ? *gzip : any.value_or(0);
  return weight > 0 && weight >= identity.value_or(0);
}

}  // namespace reprise::server
