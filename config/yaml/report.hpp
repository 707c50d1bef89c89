// Where the readers of a configuration put what they find wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/problem.hpp"

namespace reprise::config {

/// Collects problems; the same one at the same place is kept once.
class Report {
 public:
  void error(std::size_t line, std::size_t column, std::string path, std::string message);
  void warning(std::size_t line, std::size_t column, std::string path, std::string message);

  bool has_errors() const { return has_errors_; }
  /// True if something under that path was refused.
  bool refused_under(std::string_view path) const;
  /// True once no more is kept: a hostile file gets a bounded answer in bounded time.
  bool full() const { return problems_.size() >= most_problems; }
  /// In the order of the file.
  std::vector<Problem> take();
  /// A value was to come from that file.
  void file(std::string path) { files_.push_back(std::move(path)); }
  std::vector<std::string> take_files() { return std::move(files_); }

  static constexpr std::size_t most_problems = 200;

 private:
  void add(Problem);

  bool has_errors_ = false;
  std::vector<Problem> problems_;
  std::vector<std::string> files_;
};

}  // namespace reprise::config
