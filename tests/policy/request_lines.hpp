// Field lines of a made-up request, for the tests of conditions and routes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::policy {

struct Lines final : FieldLines {
  explicit Lines(std::vector<std::pair<std::string, std::string>> fields) : fields_(std::move(fields)) {}

  bool has(std::string_view name, std::string_view value) const override {
    return std::any_of(fields_.begin(), fields_.end(), [&](const auto& field) {
      const std::string_view given = trimmed(field.second);
      return equals_ignoring_case(field.first, name) && (value.empty() ? !given.empty() : given == value);
    });
  }

 private:
  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace reprise::policy
