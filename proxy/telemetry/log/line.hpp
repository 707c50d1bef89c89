// A buffer for one log line. Its append is inlined to a comparison and a copy. The append of std::string
// would be a function call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace reprise::telemetry {

/// Grows as needed. Keeps its memory when it is cleared.
class Line {
 public:
  void clear() { end_ = 0; }
  std::string_view view() const { return {bytes_.get(), end_}; }

  Line& operator+=(char byte) {
    *extend(1) = byte;
    return *this;
  }
  Line& operator+=(std::string_view text) { return append(text.data(), text.size()); }
  Line& append(const char* text, std::size_t bytes) {
    std::memcpy(extend(bytes), text, bytes);
    return *this;
  }
  /// Adds this many bytes, which the caller must fill. The pointer is valid until the next append.
  char* extend(std::size_t bytes) {
    if (room_ - end_ < bytes) grow(bytes);
    char* const at = bytes_.get() + end_;
    end_ += bytes;
    return at;
  }

 private:
  void grow(std::size_t bytes) {
    constexpr std::size_t usual = 1024;
    const std::size_t room = std::max(2 * room_, end_ + std::max(bytes, usual));
    auto larger = std::make_unique_for_overwrite<char[]>(room);
    if (end_ > 0) std::memcpy(larger.get(), bytes_.get(), end_);
    bytes_ = std::move(larger);
    room_ = room;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t room_ = 0;
  std::size_t end_ = 0;
};

}  // namespace reprise::telemetry
