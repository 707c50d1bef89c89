// Loads every file of tests/golden/config and compares its messages with the .txt file beside it.
#include "tests/config/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view secret = "s3cret";

std::optional<std::string> environment(std::string_view name) {
  if (name == "SECRET") return std::string(secret);
  if (name == "SECRET_LINES") return std::string(secret) + "\r\nX-Injected: 1";
  if (name == "EMPTY") return std::string();
  return std::nullopt;
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(golden::in_source("tests/golden/config"))) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string safe_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class ConfigGolden : public testing::TestWithParam<std::string> {};

TEST_P(ConfigGolden, problems_match_the_golden_file) {
  const std::string base = golden::in_source("tests/golden/config/" + GetParam());
  const Loaded loaded = load_text(golden::read(base + ".yaml"), environment);
  std::string lines;
  bool errors = false;
  for (const Problem& problem : loaded.problems) {
    lines.append(to_line(problem, GetParam() + ".yaml")).append("\n");
    errors = errors || problem.severity == Problem::Severity::error;
  }
  golden::expect_file(base + ".txt", lines);
  EXPECT_EQ(loaded.settings.has_value(), !errors);
  EXPECT_FALSE(loaded.problems.empty()) << "a case without a problem belongs into another test";
  EXPECT_EQ(lines.find(secret), std::string::npos) << "a replaced value was printed";
}

INSTANTIATE_TEST_SUITE_P(Files, ConfigGolden, testing::ValuesIn(cases()), safe_name);

}  // namespace
}  // namespace reprise::config
