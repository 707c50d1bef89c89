// A folder for the files of one test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace reprise::play {

/// Creates a new folder, and removes it at destruction.
class OwnFolder {
 public:
  OwnFolder() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~OwnFolder() { remove(); }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const std::string& path() const { return path_; }
  bool empty() const { return std::filesystem::is_empty(path_); }
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void make() const { std::filesystem::create_directory(path_); }

 private:
  std::string path_ = testing::TempDir() + "reprise-test-XXXXXX";
};

}  // namespace reprise::play
