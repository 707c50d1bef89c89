#include "config/reach.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

using policy::Condition;

bool covers_host(const std::string& earlier, const std::string& later) {
  if (earlier.empty() || earlier == later) return true;
  if (!earlier.starts_with("*.")) return false;
  // "*.example.com" covers "a.example.com" and "*.a.example.com", but not "example.com".
  const std::string_view suffix = std::string_view(earlier).substr(1);
  return later.size() > suffix.size() && std::string_view(later).ends_with(suffix) && later != earlier;
}

using Hosts = std::span<const policy::HostPattern>;

// Returns true if each host pattern in `narrow` is covered by a pattern in `wide`.
bool covers_each(Hosts wide, Hosts narrow) {
  return std::all_of(narrow.begin(), narrow.end(), [&](const policy::HostPattern& later) {
    return std::any_of(wide.begin(), wide.end(), [&](const policy::HostPattern& earlier) {
      return covers_host(earlier.text, later.text);
    });
  });
}

// Returns true if `earlier` covers the hosts of `later`. A request must match both `host` and `hosts` of
// `later`, so it is enough that `earlier` covers one of the two.
bool covers_hosts(const policy::Match& earlier, const policy::Match& later) {
  const auto covered_by = [&](Hosts wide) {
    return covers_each(wide, {&later.host, 1}) || (!later.hosts.empty() && covers_each(wide, later.hosts));
  };
  return covered_by({&earlier.host, 1}) && (earlier.hosts.empty() || covered_by(earlier.hosts));
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool is_parameter(std::string_view segment) { return segment.size() > 2 && segment.front() == '{'; }

bool covers_path(const std::string& earlier, const std::string& later) {
  if (earlier == "/**" || earlier == later) return true;
  const auto wide = segments_of(earlier);
  const auto narrow = segments_of(later);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i >= narrow.size()) return false;
    // `**` matches one or more segments, but the first segment must not be empty. A `**` or `{x}` in `narrow`
    // is covered, because neither matches an empty first segment.
    if (wide[i] == "**") return !narrow[i].empty();
    if (narrow[i] == "**") return false;
    const bool same = is_parameter(wide[i]) ? !narrow[i].empty() : wide[i] == narrow[i];
    if (!same || (is_parameter(narrow[i]) && !is_parameter(wide[i]))) return false;
  }
  return wide.size() == narrow.size();
}

bool covers_methods(const std::vector<std::string>& earlier, const std::vector<std::string>& later) {
  if (earlier.empty()) return true;
  const auto listed = [&](const std::string& method) {
    return std::find(earlier.begin(), earlier.end(), method) != earlier.end();
  };
  return !later.empty() && std::all_of(later.begin(), later.end(), listed);
}

bool implies(const Condition& given, const Condition& wanted) {
  const bool same_name = wanted.kind == Condition::Kind::header
                             ? policy::equals_ignoring_case(given.name, wanted.name)
                             : given.name == wanted.name;
  return same_name && (wanted.value.empty() || given.value == wanted.value);
}

bool covers_pairs(const std::vector<Condition>& earlier, const std::vector<Condition>& later) {
  return std::all_of(earlier.begin(), earlier.end(), [&](const Condition& wanted) {
    return std::any_of(later.begin(), later.end(),
                       [&](const Condition& given) { return implies(given, wanted); });
  });
}

// Returns true if each pattern in `later` is covered by one in `earlier`. A pattern covers another if it
// matches the text of the other, because `*` is in no name.
bool covers_calls(const std::vector<policy::GrpcPattern>& earlier,
                  const std::vector<policy::GrpcPattern>& later) {
  if (earlier.empty()) return true;
  return !later.empty() && std::all_of(later.begin(), later.end(), [&](const policy::GrpcPattern& narrow) {
    return std::any_of(earlier.begin(), earlier.end(),
                       [&](const policy::GrpcPattern& wide) { return wide.matches("/" + narrow.text()); });
  });
}

}  // namespace

bool covers(const policy::Match& earlier, const policy::Match& later) {
  return covers_hosts(earlier, later) && (!earlier.port || earlier.port == later.port) &&
         covers_path(earlier.path.text(), later.path.text()) &&
         covers_methods(earlier.methods, later.methods) && covers_pairs(earlier.query, later.query) &&
         covers_pairs(earlier.headers, later.headers) && covers_calls(earlier.grpc, later.grpc);
}

}  // namespace reprise::config
