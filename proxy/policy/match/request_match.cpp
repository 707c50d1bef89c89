#include "proxy/policy/match/request_match.hpp"

#include <algorithm>
#include <array>

#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/match/query.hpp"

namespace reprise::policy {
namespace {

// Returns true if the query has the parameter, even with an empty value. This is what a query condition
// without a value requires.
bool query_present(std::string_view query, std::string_view name) {
  return any_parameter(query, [&](const Parameter& given) { return given.name == name; });
}

// Returns true if the list has the name. `names` is separated by commas; a name that ends with `*` is a
// prefix.
bool lists_name(std::string_view names, std::string_view name) {
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view listed = names.substr(begin, end - begin);
    begin = end + 1;
    const bool is_prefix = listed.ends_with('*');
    if (is_prefix ? name.starts_with(listed.substr(0, listed.size() - 1)) : name == listed) return true;
  }
  return false;
}

bool matches_query(const Condition& wanted, std::string_view query) {
  if (wanted.name == "*" || wanted.name.starts_with('!')) {
    const std::string_view others = wanted.name == "*" ? "*" : std::string_view(wanted.name).substr(1);
    return any_parameter(query, [others](const Parameter& given) {
      return !given.name.empty() && (given.value.empty() || !lists_name(others, given.name));
    });
  }
  return wanted.value.empty() ? query_present(query, wanted.name)
                              : query_has(query, wanted.name, wanted.value);
}

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

std::optional<PathPattern> PathPattern::parse(std::string_view text) {
  if (text.empty() || text.front() != '/') return std::nullopt;
  PathPattern pattern;
  pattern.text_ = std::string(text);
  pattern.rest_ = false;
  std::string_view left = text.substr(1);
  for (;;) {
    if (pattern.rest_) return std::nullopt;
    const std::size_t slash = left.find('/');
    const std::string_view segment = left.substr(0, slash);
    if (segment == "**") {
      pattern.rest_ = true;
    } else if (is_parameter(segment)) {
      pattern.segments_.push_back({true, {}});
    } else if (segment.find_first_of("{}*") != std::string_view::npos) {
      return std::nullopt;
    } else {
      pattern.segments_.push_back({false, std::string(segment)});
    }
    if (slash == std::string_view::npos) return pattern;
    left = left.substr(slash + 1);
  }
}

bool PathPattern::matches(std::string_view path) const {
  // A pattern without segments is `/**`, which matches every path.
  if (segments_.empty()) return true;
  if (path.empty() || path.front() != '/') return false;
  std::string_view left = path.substr(1);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::size_t slash = left.find('/');
    const std::string_view segment = left.substr(0, slash);
    if (segments_[i].any ? segment.empty() : segment != segments_[i].literal) return false;
    const bool ends_here = i + 1 == segments_.size() && !rest_;
    if (slash == std::string_view::npos) return ends_here;
    if (ends_here) return false;
    left = left.substr(slash + 1);
  }
  return !left.empty() && left.front() != '/';
}

bool HostPattern::matches(std::string_view host) const {
  if (text.empty()) return true;
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view pattern = text;
  if (!pattern.starts_with("*.")) return equals_ignoring_case(host, pattern);
  const std::string_view suffix = pattern.substr(1);
  return host.size() > suffix.size() &&
         equals_ignoring_case(host.substr(host.size() - suffix.size()), suffix);
}

std::string_view word(Mismatch mismatch) { return names_of<Mismatch>[static_cast<std::size_t>(mismatch)]; }

Mismatch Match::first_mismatch(const RequestView& request) const {
  const auto names_host = [&](const HostPattern& pattern) { return pattern.matches(request.host); };
  if (!names_host(host)) return Mismatch::host;
  if (!hosts.empty() && std::none_of(hosts.begin(), hosts.end(), names_host)) return Mismatch::host;
  if (port && *port != request.port) return Mismatch::port;
  if (!methods.empty() && std::find(methods.begin(), methods.end(), request.method) == methods.end())
    return Mismatch::method;
  if (!path.matches(request.path)) return Mismatch::path;
  const auto in_query = [&](const Condition& wanted) { return matches_query(wanted, request.query); };
  if (!std::all_of(query.begin(), query.end(), in_query)) return Mismatch::query;
  const auto in_fields = [&](const Condition& wanted) {
    return request.fields != nullptr && request.fields->has(wanted.name, wanted.value);
  };
  if (!std::all_of(headers.begin(), headers.end(), in_fields)) return Mismatch::header;
  const auto names_method = [&](const GrpcPattern& pattern) { return pattern.matches(request.path); };
  const bool calls = request.is_call && std::any_of(grpc.begin(), grpc.end(), names_method);
  return grpc.empty() || calls ? Mismatch::none : Mismatch::grpc;
}

}  // namespace reprise::policy
