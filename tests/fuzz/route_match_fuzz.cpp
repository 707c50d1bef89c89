// Fuzz target: routes. The first matching route is found, and each match agrees with a simple check of its
// patterns.
#include <array>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/policy/match/condition.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace policy;

constexpr std::string_view path_letters = "/ab{}*%";
constexpr std::string_view query_letters = "ab=&%";

std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == separator) {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

bool is_segment_pattern(const std::string& segment) {
  const bool parameter = segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
  return parameter || segment.find_first_of("{}*") == std::string::npos;
}

bool is_path_pattern(std::string_view text) {
  if (!text.starts_with('/')) return false;
  std::vector<std::string> segments = pieces(text.substr(1), '/');
  if (segments.back() == "**") segments.pop_back();
  return std::all_of(segments.begin(), segments.end(), is_segment_pattern);
}

/// Returns true if the path matches. Precondition: `pattern` is a valid pattern.
bool path_matches(std::string_view pattern, std::string_view path) {
  std::vector<std::string> wanted = pieces(pattern.substr(1), '/');
  const bool rest = wanted.back() == "**";
  if (rest) wanted.pop_back();
  if (rest && wanted.empty()) return true;
  if (!path.starts_with('/')) return false;
  const std::vector<std::string> given = pieces(path.substr(1), '/');
  if (rest ? given.size() <= wanted.size() || given[wanted.size()].empty() : given.size() != wanted.size())
    return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool any = wanted[i].size() > 2 && wanted[i].front() == '{';
    if (any ? given[i].empty() : given[i] != wanted[i]) return false;
  }
  return true;
}

std::string lowered(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

bool host_matches(std::string pattern, std::string host) {
  if (pattern.empty()) return true;
  pattern = lowered(pattern);
  host = lowered(host);
  if (!host.empty() && host.back() == '.') host.pop_back();
  if (pattern.substr(0, 2) != "*.") return host == pattern;
  const std::string end = pattern.substr(1);
  return host.size() > end.size() && host.substr(host.size() - end.size()) == end;
}

bool query_matches(const Condition& wanted, std::string_view query) {
  for (const std::string& pair : pieces(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != wanted.name) continue;
    if (wanted.value.empty()) return true;
    if (equals < pair.size() && pair.substr(equals + 1) == wanted.value) return true;
  }
  return false;
}

class OneField final : public FieldLines {
 public:
  OneField(std::string name, std::string value) : name_(std::move(name)), value_(std::move(value)) {}
  bool has(std::string_view name, std::string_view value) const override {
    return name == name_ && (value.empty() ? !value_.empty() : value == value_);
  }

 private:
  std::string name_;
  std::string value_;
};

/// Draws a text, which is usually a valid path pattern, and parses it. Returns nullopt if the text is not a
/// valid pattern.
std::optional<PathPattern> pattern(Input& input) {
  static constexpr std::array<std::string_view, 6> segments{"/a", "/b", "/{x}", "/**", "/", "/a%2Fb"};
  std::string text;
  if (input.flip()) {
    text = input.text(path_letters, 12);
  } else {
    for (auto left = 1 + input.upto(3); left > 0; --left) text += input.of(segments);
  }
  auto parsed = PathPattern::parse(text);
  law(parsed.has_value() == is_path_pattern(text), "a pattern is one");
  law(!parsed || parsed->text() == text, "a pattern keeps its text");
  return parsed;
}

Route route(Input& input) {
  static const std::array<std::string, 4> methods{"GET", "PUT", "POST", "get"};
  Route route;
  if (auto path = pattern(input)) route.match.path = *path;
  if (input.flip()) route.match.host.text = input.text("ab.*", 5);
  if (input.upto(3) == 0) route.match.hosts = {{input.text("ab.*", 3)}, {"*.b"}};
  if (input.upto(3) == 0) route.match.port = static_cast<std::uint16_t>(80 + input.upto(1));
  if (input.upto(3) == 0) route.match.methods = {input.of(methods), input.of(methods)};
  if (input.flip()) {
    route.match.query.push_back({Condition::Kind::query, "a" + input.text("ab%", 1), input.text("ab", 2)});
  }
  if (input.upto(3) == 0) route.match.headers.push_back({Condition::Kind::header, "a", input.text("ab", 1)});
  return route;
}

bool matches(const Match& match, const RequestView& request) {
  const std::string host(request.host);
  const auto any_host = [&](const HostPattern& one) { return host_matches(one.text, host); };
  return any_host(match.host) &&
         (match.hosts.empty() || std::any_of(match.hosts.begin(), match.hosts.end(), any_host)) &&
         (!match.port || *match.port == request.port) &&
         (match.methods.empty() ||
          std::count(match.methods.begin(), match.methods.end(), request.method) > 0) &&
         path_matches(match.path.text(), request.path) &&
         std::all_of(match.query.begin(), match.query.end(),
                     [&](const Condition& one) { return query_matches(one, request.query); }) &&
         std::all_of(match.headers.begin(), match.headers.end(), [&](const Condition& one) {
           return request.fields != nullptr && request.fields->has(one.name, one.value);
         });
}

void judge(Input& input) {
  std::vector<Route> routes;
  for (auto count = input.upto(4); count > 0; --count) routes.push_back(route(input));
  const std::string host = input.text("aAbB.", 6);
  const std::string path = (input.upto(15) == 0 ? "" : "/") + input.text(path_letters, 12);
  const std::string query = input.text(query_letters, 10);
  const std::string method = input.flip() ? "GET" : "POST";
  const OneField field("a", input.text("ab", 1));
  const RequestView request{method, host,  static_cast<std::uint16_t>(80 + input.upto(1)),
                            path,   query, input.flip() ? &field : nullptr};
  const RouteTable table(routes, {});
  const std::size_t found = table.find(request);
  law(table.size() == routes.size() + 1 && found < table.size(), "every request has a route");
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const Mismatch why = routes[i].match.first_mismatch(request);
    law((why == Mismatch::none) == matches(routes[i].match, request),
        "what matches is what a naive reading says");
    law((why == Mismatch::none) == (i == found) || i > found, "the first match wins");
  }
  for (const Route& one : routes) {
    for (const Condition& condition : one.match.query)
      law(!query_has(query, condition.name, condition.value) || query_matches(condition, query),
          "a value is there");
  }
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::Input input(bytes, size);
  reprise::fuzz::judge(input);
  return 0;
}
