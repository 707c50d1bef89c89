// Makes the bytes of one side of an HTTP/2 connection from the bytes of a fuzzer.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tests/support/http2_frames.hpp"

namespace reprise::fuzz {

/// Writes whole frames for a byte of the input, so that most inputs are well-formed up to a point.
class Http2Script {
 public:
  /// `heads`: three well-formed heads of messages.
  Http2Script(std::string_view text, const std::array<play::FieldList, 3>& heads)
      : text_(text), heads_(heads) {}

  /// Returns the SETTINGS, their acknowledgement, and the frames of the input.
  std::string bytes() {
    std::string all = play::settings() + play::frame(play::FrameType::settings, play::ack, 0, "");
    while (!text_.empty()) all += frame(next());
    return all;
  }

 private:
  unsigned next() {
    if (text_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(text_.front());
    text_.remove_prefix(1);
    return byte;
  }
  std::string take(std::size_t bytes) {
    std::string some(text_.substr(0, bytes));
    text_.remove_prefix(some.size());
    return some;
  }
  std::string frame(unsigned kind) {
    const auto stream = static_cast<std::int32_t>(kind / 16 % 4 * 2 + 1);
    const unsigned end = (kind & 0x40U) != 0 ? play::end_stream : 0;
    const unsigned first = next();
    const unsigned second = next();
    const auto other_stream = static_cast<std::int32_t>(first % 8);
    const std::string bytes = take(first % 16);
    switch (kind % 12) {
      case 0: return play::headers(stream, heads_[0], end);
      case 1: return play::headers(stream, heads_[1], end);
      case 2: {
        play::FieldList fields = heads_[2];
        fields.emplace_back("content-length", std::to_string(first % 8));
        return play::headers(stream, fields, end);
      }
      case 3: return play::headers(stream, {{bytes, take(second % 8)}}, end);
      case 4: return play::data(stream, bytes, end);
      case 5: return play::rst_stream(stream, first % 16);
      case 6: return play::goaway(other_stream, second % 16);
      case 7: return play::settings({{first % 10, second}});
      case 8: return play::window_update(other_stream, second);
      case 9: return play::frame(play::FrameType::ping, second, 0, take(8));
      case 10: return play::frame(static_cast<play::FrameType>(second % 12), second, stream, bytes);
      default: return bytes;
    }
  }

  std::string_view text_;
  const std::array<play::FieldList, 3>& heads_;
};

}  // namespace reprise::fuzz
