// What a route asks of a request: patterns of its host and path, and what else must hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::policy {

/// A path pattern over the raw path: literal segments, `{x}`
/// for one segment that is not empty, `**` for the rest.
class PathPattern {
 public:
  /// Matches every path.
  PathPattern() = default;
  /// Nothing if the text is no pattern: it must start with '/', and `**` may only be the whole last segment.
  static std::optional<PathPattern> parse(std::string_view text);

  struct Segment {
    bool any = false;  ///< `{x}`
    std::string literal;
  };

  bool matches(std::string_view path) const;
  const std::string& text() const { return text_; }
  /// What a path that matches begins with, a segment each, without `**`.
  const std::vector<Segment>& segments() const { return segments_; }
  /// Whether it ends with `**`.
  bool has_rest() const { return rest_; }

 private:
  std::string text_ = "/**";
  std::vector<Segment> segments_;
  bool rest_ = true;
};

/// A host pattern: exact name, `*.suffix` (at least one label before it), or any.
struct HostPattern {
  std::string text;  ///< lower case; empty: any host
  bool matches(std::string_view host) const;
};

/// The first part of a match that a request does not meet, in the order in which they are asked.
enum class Mismatch : std::uint8_t { none, host, port, method, path, query, header };
/// The enumerator's own name.
std::string_view word(Mismatch);

struct Match {
  HostPattern host;
  std::optional<std::uint16_t> port;
  PathPattern path;
  std::vector<std::string> methods;  ///< empty: any
  /// All must hold. No `value`: it is there. Name `*`: any that has no value; name `!a,b*`: that, or any that
  /// is not listed.
  std::vector<Condition> query;
  std::vector<Condition> headers;  ///< all must hold
  std::vector<HostPattern> hosts;  ///< any of them, beside `host`; empty: any

  /// Why the request does not match; `none`: it does.
  Mismatch first_mismatch(const RequestView&) const;
  bool matches(const RequestView& request) const { return first_mismatch(request) == Mismatch::none; }
};

}  // namespace reprise::policy
