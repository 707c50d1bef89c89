// A limit for interim responses (1xx): never enough of them to flood.
#pragma once

#include <cstddef>

namespace reprise::http {

/// Counts the interim responses of one attempt (row B10).
class Interims {
 public:
  /// False where there are more than 32, or more than 64 KiB of them: the upstream is out of order.
  [[nodiscard]] bool admit(std::size_t head_bytes) {
    ++count_;
    bytes_ += head_bytes;
    return count_ <= 32 && bytes_ <= std::size_t{64} * 1024;
  }

 private:
  unsigned count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace reprise::http
