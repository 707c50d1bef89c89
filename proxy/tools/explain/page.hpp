// Text in two columns, what a line is about and what it says; and spans as people read them.
#pragma once

#include <string>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::tools {

/// `0s`, `250ms`, `1.75s`, `1m45s`: rounded to milliseconds above one second.
std::string span(policy::Duration);
/// `125ms to 250ms`, or one span where they are the same.
std::string between(policy::Duration lowest, policy::Duration highest);

/// Lines of two columns; a line with the heading of the one above goes on with it.
class TextPage {
 public:
  void line(std::string_view heading, std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string last_;
};

}  // namespace reprise::tools
