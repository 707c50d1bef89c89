#include "config/yaml/report.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace reprise::config {

void Report::error(std::size_t line, std::size_t column, std::string path, std::string message) {
  add({Problem::Severity::error, line, column, std::move(path), std::move(message)});
}

void Report::warning(std::size_t line, std::size_t column, std::string path, std::string message) {
  add({Problem::Severity::warning, line, column, std::move(path), std::move(message)});
}

void Report::add(Problem problem) {
  has_errors_ = has_errors_ || problem.severity == Problem::Severity::error;
  if (full()) return;
  const bool known = std::any_of(problems_.begin(), problems_.end(), [&](const Problem& other) {
    return std::tie(other.line, other.column, other.path, other.message) ==
           std::tie(problem.line, problem.column, problem.path, problem.message);
  });
  if (!known) problems_.push_back(std::move(problem));
}

bool Report::refused_under(std::string_view path) const {
  return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    return problem.severity == Problem::Severity::error && problem.path.starts_with(path);
  });
}

std::vector<Problem> Report::take() {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  return std::exchange(problems_, {});
}

std::string_view word(Problem::Severity severity) {
  return severity == Problem::Severity::error ? "error" : "warning";
}

std::string to_line(const Problem& problem, std::string_view file) {
  return to_line(problem, file, word(problem.severity));
}

std::string to_line(const Problem& problem, std::string_view file, std::string_view severity) {
  std::string line(problem.given || file.empty() ? "reprise" : file);
  if (problem.line > 0) line.append(":").append(std::to_string(problem.line));
  if (problem.column > 0) line.append(":").append(std::to_string(problem.column));
  line.append(": ");
  if (!severity.empty()) line.append(severity).append(": ");
  if (!problem.path.empty()) line.append(problem.path).append(": ");
  return line.append(problem.message);
}

}  // namespace reprise::config
