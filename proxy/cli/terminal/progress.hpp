// How far a long command is: one line on a terminal, nothing anywhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::cli {

/// A line on standard error that is written over, where that is a terminal. One thread.
class ProgressLine {
 public:
  /// `wanted`: false for a command that has nothing to tell.
  explicit ProgressLine(bool wanted = true);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool is_shown() const { return is_shown_; }
  /// In place of the last; escaped, and cut at the width of the terminal.
  void show(std::string_view text);
  /// Before other lines are written.
  void clear();

 private:
  const bool is_shown_;
  bool is_there_ = false;
};

/// `3 of 40: x.yaml`, where there is more than one step.
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

/// `reprise simulate: 37 %`, ten times a second at most.
class ShareProgress {
 public:
  /// So many runs, of so much work each.
  ShareProgress(std::string_view what, std::size_t runs, double each)
      : what_(what), all_(static_cast<double>(runs) * each), each_(each) {}

  void next_run() { ++done_; }
  /// `work`: done of this run.
  void tell(std::uint64_t work);
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
