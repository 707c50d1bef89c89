// A pattern for the methods of gRPC calls, as in `match.grpc` of a route.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reprise::policy {

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
