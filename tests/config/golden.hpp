// Golden files: files of the repository that tests compare with generated texts. If UPDATE_GOLDEN=1, the
// tests overwrite the files with these texts.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace reprise::config::golden {

inline std::string in_source(const std::string& path) { return std::string(REPRISE_SOURCE_DIR) + "/" + path; }

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline bool is_update() {
  const char* wanted = std::getenv("UPDATE_GOLDEN");
  return wanted != nullptr && std::string_view(wanted) == "1";
}

/// Expects that the file holds exactly `text`. Writes `text` to the file first if UPDATE_GOLDEN=1.
inline void expect_file(const std::string& path, const std::string& text) {
  if (is_update()) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read(path), text) << path << " differs; UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace reprise::config::golden
