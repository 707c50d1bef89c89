// Compares a text with a file under tests/golden/observe, or writes the file if UPDATE_GOLDEN=1.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace reprise::telemetry {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(REPRISE_SOURCE_DIR) + "/tests/golden/observe/" + name;
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  const std::string golden = read_file(path);
  ASSERT_FALSE(golden.empty()) << path << " is missing; UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(golden, text) << "if this is meant: UPDATE_GOLDEN=1";
}

}  // namespace reprise::telemetry
