// Collects the problems of a configuration.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/problem.hpp"

namespace reprise::config {

/// A list of problems. Discards a problem that repeats an earlier one at the same position.
class Report {
 public:
  void error(std::size_t line, std::size_t column, std::string path, std::string message);
  void warning(std::size_t line, std::size_t column, std::string path, std::string message);

  bool has_errors() const { return has_errors_; }
  /// Returns true if there is an error whose path begins with `path`.
  bool refused_under(std::string_view path) const;
  /// Returns true if the maximum number of problems is reached. Further problems are dropped. This bounds the
  /// output and the work for a hostile file.
  bool full() const { return problems_.size() >= most_problems; }
  /// Returns the problems in the order of the file.
  std::vector<Problem> take();
  /// Records a file from which a value is read.
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
