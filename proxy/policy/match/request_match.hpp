// The `match` of a route: patterns of host and path, and further conditions on a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::policy {

/// A pattern for the raw path: literal segments, `{x}` for one non-empty segment, `**` for the rest.
class PathPattern {
 public:
  /// Creates a pattern that matches every path.
  PathPattern() = default;
  /// Parses a pattern. Returns nothing if the text is malformed. A pattern starts with '/', and `**` may
  /// appear only as its last segment.
  static std::optional<PathPattern> parse(std::string_view text);

  struct Segment {
    bool any = false;  ///< true for `{x}`
    std::string literal;
  };

  bool matches(std::string_view path) const;
  const std::string& text() const { return text_; }
  /// Returns the leading segments of the pattern, without `**`.
  const std::vector<Segment>& segments() const { return segments_; }
  /// Returns true if the pattern ends with `**`.
  bool has_rest() const { return rest_; }

 private:
  std::string text_ = "/**";
  std::vector<Segment> segments_;
  bool rest_ = true;
};

/// A host pattern: an exact name, `*.suffix` (with at least one label in place of `*`), or any host.
struct HostPattern {
  std::string text;  ///< in lower case; empty for any host
  bool matches(std::string_view host) const;
};

/// The first part of a match that a request does not meet. The parts are checked in this order.
enum class Mismatch : std::uint8_t { none, host, port, method, path, query, header, grpc };
/// Returns the name of the enumerator.
std::string_view word(Mismatch);

struct Match {
  HostPattern host;
  std::optional<std::uint16_t> port;
  PathPattern path;
  std::vector<std::string> methods;  ///< empty for any method
  /// Conditions on the query; all must hold. Without `value`, the parameter must be present. A condition with
  /// the name `*` holds if any parameter has an empty or absent value. A condition with the name `!a,b*`
  /// holds if any parameter has an empty or absent value, or a name that is not in the list after the `!`.
  std::vector<Condition> query;
  std::vector<Condition> headers;  ///< conditions on header fields; all must hold
  /// At least one of these must match, in addition to `host`; empty for any host.
  std::vector<HostPattern> hosts;
  /// Methods of gRPC calls; at least one must match. Empty for any request.
  std::vector<GrpcPattern> grpc;

  /// Returns the first part of the match that the request does not meet, or `none` if the request meets all
  /// parts.
  Mismatch first_mismatch(const RequestView&) const;
  bool matches(const RequestView& request) const { return first_mismatch(request) == Mismatch::none; }
};

}  // namespace reprise::policy
