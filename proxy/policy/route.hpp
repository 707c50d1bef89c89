// Routes: which policy a request gets. The first match wins; a default route always does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/route_policy.hpp"

namespace reprise::policy {

/// A path pattern over the raw path: literal segments, `{x}` for one
/// segment that is not empty, `**` for the rest.
class PathPattern {
 public:
  /// Matches every path.
  PathPattern() = default;
  /// Nothing if the text is no pattern: it must start with '/', and `**` may only be the whole last segment.
  static std::optional<PathPattern> parse(std::string_view text);

  bool matches(std::string_view path) const;
  const std::string& text() const { return text_; }

 private:
  struct Segment {
    bool any = false;
    std::string literal;
  };
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
  std::vector<Condition> query;  ///< all must hold; no `value`: it is there; name `*`: any that has no value
  std::vector<Condition> headers;  ///< all must hold
  std::vector<HostPattern> hosts;  ///< any of them, beside `host`; empty: any

  /// Why the request does not match; `none`: it does.
  Mismatch first_mismatch(const RequestView&) const;
  bool matches(const RequestView& request) const { return first_mismatch(request) == Mismatch::none; }
};

struct Route {
  std::string name;  ///< the `route` label
  Match match;
  RoutePolicy policy;
  std::size_t line = 0;     ///< in the file that `source` names, from 1; 0 for the built-in default
  std::string source = {};  ///< the preset that it comes from; empty: the configuration file
};

/// Immutable after construction; shared by all threads.
class RouteTable {
 public:
  /// `fallback` is the route of requests that no other route matches; its `match` is ignored.
  RouteTable(std::vector<Route> routes, Route fallback);

  /// Index of the first route that matches; the fallback has the last index.
  std::size_t find(const RequestView&) const;
  const Route& operator[](std::size_t index) const { return routes_[index]; }
  std::size_t size() const { return routes_.size(); }

 private:
  std::vector<Route> routes_;
};

}  // namespace reprise::policy
