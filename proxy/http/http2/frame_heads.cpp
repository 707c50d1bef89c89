#include "proxy/http/http2/frame_heads.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>

namespace reprise::http {
namespace {

constexpr std::size_t length_bytes = 3;
constexpr std::size_t type_at = 3;
constexpr std::size_t flags_at = 4;
constexpr std::size_t stream_at = 5;
constexpr std::uint32_t without_highest_bit = 0x7fffffff;

}  // namespace

std::uint32_t FrameHeads::number_at(std::size_t at, std::size_t bytes) const {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) number = number << 8U | static_cast<unsigned char>(known_[at + i]);
  return number;
}

bool FrameHeads::is_complete() const {
  if (size_ < head_bytes) return false;
  const bool has_id = known_[type_at] == NGHTTP2_PRIORITY && number_at(0, length_bytes) >= id_bytes;
  return !has_id || size_ == known_.size();
}

bool FrameHeads::next(std::string_view& bytes, FrameHead& head) {
  const std::size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  while (!bytes.empty()) {
    known_[size_++] = bytes.front();
    bytes.remove_prefix(1);
    if (!is_complete()) continue;
    head.bytes = number_at(0, length_bytes);
    head.type = static_cast<std::uint8_t>(known_[type_at]);
    head.flags = static_cast<std::uint8_t>(known_[flags_at]);
    head.stream = static_cast<StreamId>(number_at(stream_at, id_bytes) & without_highest_bit);
    const bool has_id = size_ == known_.size();
    head.depends_on =
        has_id ? static_cast<StreamId>(number_at(head_bytes, id_bytes) & without_highest_bit) : 0;
    skip_ = head.bytes - (size_ - head_bytes);
    size_ = 0;
    return true;
  }
  return false;
}

}  // namespace reprise::http
