#include "proxy/policy/match/grpc_pattern.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

// Returns true if the part of a pattern is not empty and has at most one `*`, at either end.
bool is_part(std::string_view part) {
  const std::size_t star = part.find('*');
  if (star == std::string_view::npos) return !part.empty();
  return (star == 0 || star == part.size() - 1) && part.find('*', star + 1) == std::string_view::npos;
}

bool part_matches(std::string_view part, std::string_view name) {
  if (part.starts_with('*')) return name.ends_with(part.substr(1));
  if (part.ends_with('*')) return name.starts_with(part.substr(0, part.size() - 1));
  return part == name;
}

// Returns the position of the slash in `SERVICE/METHOD`; `npos` if there is not exactly one.
std::size_t only_slash(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash == text.rfind('/') ? slash : std::string_view::npos;
}

}  // namespace

std::optional<GrpcPattern> GrpcPattern::parse(std::string_view text) {
  const std::size_t slash = only_slash(text);
  if (slash == std::string_view::npos) return std::nullopt;
  // A name contains letters, digits, `_` and `.` alone (protobuf); a pattern also `*`.
  const bool is_spelled = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '*' || c == '/';
  });
  if (!is_spelled || !is_part(text.substr(0, slash)) || !is_part(text.substr(slash + 1))) return std::nullopt;
  GrpcPattern pattern;
  pattern.text_ = std::string(text);
  return pattern;
}

bool GrpcPattern::matches(std::string_view path) const {
  const CallName name = call_name(path);
  const std::string_view pattern = text_;
  const std::size_t middle = pattern.find('/');
  return !name.service.empty() && part_matches(pattern.substr(0, middle), name.service) &&
         part_matches(pattern.substr(middle + 1), name.method);
}

}  // namespace reprise::policy
