// The names of service and method of a gRPC call, and the patterns for them in `match.grpc` of a route.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::policy {

/// The service and the method of a call. Both are empty if the path does not name them.
struct CallName {
  std::string_view service;
  std::string_view method;
};

/// Splits `/SERVICE/METHOD`. Returns views into `path`.
constexpr CallName call_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash < 2 || slash + 1 == path.size()) return {};
  const std::string_view service = path.substr(1, slash - 1);
  if (service.find('/') != std::string_view::npos) return {};
  return {service, path.substr(slash + 1)};
}

/// SERVICE/METHOD: the full name of a service and the name of a method. Each part may begin or end with one
/// `*`, which matches any text.
class GrpcPattern {
 public:
  /// Parses a pattern. Returns nothing if the text is malformed.
  static std::optional<GrpcPattern> parse(std::string_view text);

  /// Returns true if the path is `/SERVICE/METHOD` of a call that matches.
  bool matches(std::string_view path) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace reprise::policy
