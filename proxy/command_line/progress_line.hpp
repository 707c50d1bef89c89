// How far a long command is: one line on a terminal, nothing elsewhere.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace reprise::cli {

/// Written at most ten times a second.
class ProgressLine {
 public:
  /// `shown`: standard error is a terminal. So many runs, of so many requests each.
  ProgressLine(bool shown, std::size_t runs, double requests)
      : shown_(shown), all_(static_cast<double>(runs) * requests), each_(requests) {}

  void next_run() { ++done_; }
  void tell(std::uint64_t requests) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    drawn_ = true;
    const double share = (static_cast<double>(done_) * each_ + static_cast<double>(requests)) / all_;
    std::fprintf(stderr, "\rreprise simulate: %3.0f %%", std::min(share, 1.0) * 100);
  }
  void clear() const {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  const bool shown_;
  const double all_;
  const double each_;
  std::size_t done_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace reprise::cli
