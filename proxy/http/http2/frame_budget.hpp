// Limits how often a peer may send frames that cost work and move no data.
#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::http {

/// A token bucket: it is full at first, and each frame takes one token.
class FrameBudget {
 public:
  /// `burst`: how many frames may come at once. `per_second`: how many more may come each second.
  FrameBudget(unsigned burst, unsigned per_second) : most_(burst), per_second_(per_second), left_(burst) {}

  /// Counts one frame. `now` never goes back. Returns false if the peer has sent too many.
  [[nodiscard]] bool spend(policy::Instant now) {
    const std::chrono::duration<double> passed = now - std::max(refilled_, policy::Instant{});
    if (refilled_ != policy::Instant{}) left_ = std::min(most_, left_ + passed.count() * per_second_);
    refilled_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  const double most_;
  const double per_second_;
  double left_;
  policy::Instant refilled_{};
};

}  // namespace reprise::http
