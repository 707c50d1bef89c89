// Reads the heads of all frames of one connection, because libnghttp2 does not report the frames that it
// ignores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// The head of a frame (RFC 9113 4.1).
struct FrameHead {
  std::uint32_t bytes = 0;  ///< of the payload
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  StreamId stream = 0;
  /// PRIORITY: the stream that `stream` depends on (RFC 7540 6.3). 0 for other frames.
  StreamId depends_on = 0;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

/// A frame may be split over any number of inputs.
class FrameHeads {
 public:
  static constexpr std::size_t head_bytes = 9;

  /// `before_first`: how many bytes precede the first frame.
  explicit FrameHeads(std::size_t before_first) : skip_(before_first) {}

  /// Takes bytes from the front of `bytes`, up to the end of the next head. Returns false if all were taken
  /// and no head is complete.
  bool next(std::string_view& bytes, FrameHead& head);

  /// Returns true if the payload of the last frame has arrived.
  bool is_whole() const { return skip_ == 0; }

 private:
  static constexpr std::size_t id_bytes = 4;

  std::uint32_t number_at(std::size_t at, std::size_t bytes) const;
  bool is_complete() const;

  std::size_t skip_;                                 ///< bytes of the last frame's payload that follow
  std::array<char, head_bytes + id_bytes> known_{};  ///< a head; of PRIORITY, also the id after it
  std::size_t size_ = 0;                             ///< bytes of `known_` that were read
};

}  // namespace reprise::http
