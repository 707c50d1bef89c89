// Shows the progress of a long command in one line on a terminal; prints nothing elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::cli {

/// A line on standard error that each update overwrites. Prints nothing if standard error is not a terminal.
/// Single-threaded.
class ProgressLine {
 public:
  /// If `wanted` is false, the line is never shown.
  explicit ProgressLine(bool wanted = true);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_shown_; }
  /// Replaces the line with `text`, escaped and cut to the width of the terminal.
  void show(std::string_view text);
  /// Removes the line. Call before printing other lines.
  void clear();

 private:
  const bool is_shown_;
  bool is_there_ = false;
};

/// Shows `3 of 40: x.yaml` if there is more than one step.
class StepProgress {
 public:
  explicit StepProgress(std::size_t steps) : steps_(steps), line_(steps > 1) {}

  void step(std::string_view what);
  void clear() { line_.clear(); }

 private:
  const std::size_t steps_;
  std::size_t at_ = 0;
  ProgressLine line_;
};

/// Shows `reprise simulate: 37 %`, at most ten times a second.
class ShareProgress {
 public:
  /// The percentage is based on `runs` runs with `each` units of work per run.
  ShareProgress(std::string_view what, std::size_t runs, double each)
      : what_(what), all_(static_cast<double>(runs) * each), each_(each) {}

  void next_run() { ++done_; }
  /// Shows the progress. `work` is the number of units of work done in the current run.
  void update(std::uint64_t work);
  void clear() { line_.clear(); }

 private:
  const std::string_view what_;
  const double all_;
  const double each_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  ProgressLine line_;
};

}  // namespace reprise::cli
