#include "proxy/http/grpc/message_boundary.hpp"

#include <algorithm>

namespace reprise::http {

void MessageBoundary::add(std::string_view piece) {
  constexpr std::uint8_t prefix_bytes = 5;
  begun_ = begun_ || !piece.empty();
  while (!piece.empty()) {
    if (prefix_bytes_read_ < prefix_bytes) {
      // The first byte, the flags, is shifted out by the four bytes of the length.
      bytes_left_ = bytes_left_ << 8U | static_cast<unsigned char>(piece.front());
      piece.remove_prefix(1);
      ++prefix_bytes_read_;
    } else {
      const std::size_t taken = std::min<std::size_t>(bytes_left_, piece.size());
      bytes_left_ -= static_cast<std::uint32_t>(taken);
      piece.remove_prefix(taken);
    }
    if (prefix_bytes_read_ == prefix_bytes && bytes_left_ == 0) {
      ++messages_;
      prefix_bytes_read_ = 0;
    }
  }
}

}  // namespace reprise::http
