// Short manifests and the results of inject() and remove(), for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "proxy/tools/inject/inject.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/options.hpp"

namespace reprise::tools {

inline const Options none_given;

inline std::string golden(const std::string& name) {
  std::ifstream file(REPRISE_SOURCE_DIR "/tests/inject/golden/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string injected(std::string_view text) {
  auto outcome = inject(text, none_given, "0.1.0");
  if (const auto* refused = std::get_if<Remark>(&outcome))
    return std::to_string(refused->line) + ":" + std::to_string(refused->column) + ": " + refused->message;
  return std::get<Injected>(outcome).text;
}

inline std::string injected(std::string_view text, const Options& options) {
  auto outcome = inject(text, options, "0.1.0");
  if (const auto* refused = std::get_if<Remark>(&outcome))
    return std::to_string(refused->line) + ":" + std::to_string(refused->column) + ": " + refused->message;
  return std::get<Injected>(outcome).text;
}

/// Returns options that make inject() add everything it can add.
inline Options everything() {
  Options options;
  options.image = "registry.example:5000/reprise:0.1.0";
  options.pull_policy = "Always";
  options.pull_secret = "of-the-registry";
  options.user = "none";
  options.config = "version: 1\n# a comment\nlisteners:\n  - {mode: forward}\n\n# the end\n";
  options.requests = {{"cpu", "50m"}};
  options.limits = {{"cpu", "1"}, {"memory", "256Mi"}};
  options.has_label = true;
  options.is_scraped = true;
  return options;
}

inline Remark refusal(std::string_view text) {
  auto outcome = inject(text, none_given, "0.1.0");
  if (const auto* refused = std::get_if<Remark>(&outcome)) return *refused;
  ADD_FAILURE() << "was taken: " << std::get<Injected>(outcome).text;
  return {};
}

inline std::string pod(const std::string& containers) {
  return "apiVersion: v1\nkind: Pod\nspec:\n" + containers;
}

inline std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// Returns every value of the variable `name` in one container of the only pod, each in brackets. A value
/// that comes from another object (valueFrom) is returned as `[from]`.
inline std::string value_of(const std::string& text, const std::string& name, std::size_t container = 0) {
  auto tree = read(text);
  if (std::holds_alternative<Fault>(tree)) return "not YAML: " + std::get<Fault>(tree).message;
  const Node* spec = std::get<Tree>(tree).root->find("spec");
  if (spec == nullptr || spec->find("containers") == nullptr) return "no pod: " + text;
  std::string values;
  for (const Node* one : spec->find("containers")->items[container]->find("env")->items) {
    if (one->word("name") == name)
      values += "[" + std::string(one->find("valueFrom") != nullptr ? "from" : one->word("value")) + "]";
  }
  return values;
}

inline std::string removed(std::string_view text) {
  auto outcome = remove(text);
  if (const auto* refused = std::get_if<Remark>(&outcome))
    return std::to_string(refused->line) + ":" + std::to_string(refused->column) + ": " + refused->message;
  return std::get<Removed>(outcome).text;
}

}  // namespace reprise::tools
