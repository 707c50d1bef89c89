// Writes text in two columns (topic and content), and formats durations for people.
#pragma once

#include <string>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::tools {

/// Returns a duration such as `0s`, `250ms`, `1.75s` or `1m45s`. Rounds to milliseconds above one second.
std::string span(policy::Duration);
/// Returns a range such as `125ms to 250ms`, or one duration if both ends are equal.
std::string between(policy::Duration lowest, policy::Duration highest);

/// Collects lines of two columns: topic and content. Leaves the topic empty if the line above has the same
/// topic.
class TextPage {
 public:
  void line(std::string_view heading, std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string last_;
};

}  // namespace reprise::tools
