// Limits how many interim responses (1xx) one request may get.
#pragma once

#include <cstddef>

namespace reprise::http {

/// Counts the interim responses to one request (row B10).
class Interims {
 public:
  static constexpr unsigned most = 100;
  /// Maximum total size of the interim heads.
  static constexpr std::size_t most_bytes = std::size_t{64} * 1024;

  /// Counts one more response. Returns false if there are now more than `most` responses, or more than
  /// `most_bytes` bytes in total.
  [[nodiscard]] bool admit(std::size_t head_bytes) {
    ++count_;
    bytes_ += head_bytes;
    return count_ <= most && bytes_ <= most_bytes;
  }

 private:
  unsigned count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace reprise::http
