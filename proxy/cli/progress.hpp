// One line on a terminal that says what a long command is at; nothing anywhere else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::cli {

/// On standard error, where that is a terminal and there is more than one step. One thread.
class Progress {
 public:
  explicit Progress(std::size_t steps);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `3 of 40: x.yaml`, in place of the last.
  void step(std::string_view what);
  /// Before other lines are written.
  void clear();

 private:
  const std::size_t steps_;
  const bool is_shown_;
  std::size_t at_ = 0;
  bool is_there_ = false;
};

}  // namespace reprise::cli
