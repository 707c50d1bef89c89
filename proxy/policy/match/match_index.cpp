#include "proxy/policy/match/match_index.hpp"

#include "proxy/policy/match/ascii.hpp"

namespace reprise::policy {

std::size_t MatchIndex::IgnoringCase::operator()(std::string_view text) const {
  // FNV-1a. A client cannot force collisions, because the names come from the configuration.
  std::size_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(to_lower(c))) * 1099511628211U;
  return hash;
}

bool MatchIndex::IgnoringCase::operator()(std::string_view a, std::string_view b) const {
  return equals_ignoring_case(a, b);
}

// Adds a match. If the match has a single `host`, indexes it by that host and not by its list `hosts`,
// because fewer requests meet a single host.
void MatchIndex::add(const Match& match) {
  if (!match.host.text.empty() || match.hosts.empty()) {
    add_under(match.host, match.path);
  } else {
    for (const HostPattern& host : match.hosts) add_under(host, match.path);
  }
  ++size_;
}

void MatchIndex::add_under(const HostPattern& host, const PathPattern& path) {
  const std::string_view text = host.text;
  if (text.empty()) {
    any_host_.add(path, size_);
  } else if (text.starts_with("*.")) {
    suffixes_[std::string(text.substr(1))].add(path, size_);
  } else {
    names_[host.text].add(path, size_);
  }
}

}  // namespace reprise::policy
