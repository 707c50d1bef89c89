// Writes text in two columns (topic and content), and formats spans for people.
#pragma once

#include <string>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::tools {

/// Returns `0s`, `250ms`, `1.75s`, `1m45s`. Rounds to milliseconds above one second.
std::string span(policy::Duration);
/// Returns `125ms to 250ms`, or one span if both are equal.
std::string between(policy::Duration lowest, policy::Duration highest);

/// Lines of two columns. A line with the same heading as the line above does not repeat it.
class TextPage {
 public:
  void line(std::string_view heading, std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string last_;
};

}  // namespace reprise::tools
