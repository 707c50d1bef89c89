// Writes and reads single HTTP/2 frames, so that a test can send any of them in any order. No library decides
// what is valid.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::play {

using FieldList = std::vector<std::pair<std::string, std::string>>;

/// The types of RFC 9113 6.
enum class FrameType : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
};

/// Identifiers of settings (RFC 9113 6.5.2, RFC 8441 3).
inline constexpr unsigned header_table_size = 1;
inline constexpr unsigned max_concurrent_streams = 3;
inline constexpr unsigned initial_window_size = 4;
inline constexpr unsigned max_frame_size = 5;
inline constexpr unsigned max_header_list_size = 6;
inline constexpr unsigned enable_connect_protocol = 8;

/// Flags of frames.
inline constexpr unsigned end_stream = 0x1;
inline constexpr unsigned ack = 0x1;
inline constexpr unsigned end_headers = 0x4;
inline constexpr unsigned padded = 0x8;

inline std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

inline std::uint32_t read_big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

inline std::string frame(FrameType type, unsigned flags, std::int32_t stream, std::string_view payload) {
  return big_endian(payload.size(), 3) + big_endian(static_cast<std::uint8_t>(type), 1) +
         big_endian(flags, 1) + big_endian(static_cast<std::uint32_t>(stream), 4) + std::string(payload);
}

/// Encodes each field as a literal that enters no table, without Huffman coding (RFC 7541 6.2.2). Lengths are
/// up to 126 bytes, or use one continuation byte more.
inline std::string header_block(const FieldList& fields) {
  const auto text = [](std::string_view bytes) {
    std::string coded;
    std::size_t length = bytes.size();
    if (length < 127) {
      coded.push_back(static_cast<char>(length));
    } else {
      coded.push_back(127);
      for (length -= 127; length >= 128; length /= 128)
        coded.push_back(static_cast<char>(length % 128 + 128));
      coded.push_back(static_cast<char>(length));
    }
    return coded + std::string(bytes);
  };
  std::string block;
  for (const auto& [name, value] : fields) block += std::string(1, '\0') + text(name) + text(value);
  return block;
}

inline std::string headers(std::int32_t stream, const FieldList& fields, unsigned flags = 0) {
  return frame(FrameType::headers, end_headers | flags, stream, header_block(fields));
}
inline std::string data(std::int32_t stream, std::string_view bytes, unsigned flags = 0) {
  return frame(FrameType::data, flags, stream, bytes);
}
inline std::string rst_stream(std::int32_t stream, std::uint32_t code) {
  return frame(FrameType::rst_stream, 0, stream, big_endian(code, 4));
}
inline std::string goaway(std::int32_t last, std::uint32_t code) {
  return frame(FrameType::goaway, 0, 0,
               big_endian(static_cast<std::uint32_t>(last), 4) + big_endian(code, 4));
}
inline std::string settings(const std::vector<std::pair<unsigned, std::uint32_t>>& entries = {}) {
  std::string payload;
  for (const auto& [key, value] : entries) payload += big_endian(key, 2) + big_endian(value, 4);
  return frame(FrameType::settings, 0, 0, payload);
}
inline std::string window_update(std::int32_t stream, std::uint32_t bytes) {
  return frame(FrameType::window_update, 0, stream, big_endian(bytes, 4));
}

struct Frame {
  FrameType type = FrameType::data;
  unsigned flags = 0;
  std::int32_t stream = 0;
  std::string payload;
};

/// Splits the bytes that one side of a connection has sent into frames, and decodes header blocks.
class FrameReader {
 public:
  FrameReader() {
    nghttp2_hd_inflater* made = nullptr;
    nghttp2_hd_inflate_new(&made);
    inflater_.reset(made);
  }

  /// Adds bytes. The preface of a client is skipped.
  void feed(std::string_view bytes) {
    bytes_ += bytes;
    constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    if (bytes_.starts_with(preface)) bytes_.erase(0, preface.size());
  }
  /// Returns the bytes that were added and that no frame has taken.
  std::string_view rest() const { return bytes_; }
  /// Takes the next whole frame. Returns false if there is none yet.
  bool next(Frame& frame) {
    constexpr std::size_t header = 9;
    if (bytes_.size() < header || bytes_.starts_with("PRI")) return false;
    const std::size_t length = read_big_endian(std::string_view(bytes_).substr(0, 3));
    if (bytes_.size() < header + length) return false;
    frame.type = static_cast<FrameType>(bytes_[3]);
    frame.flags = static_cast<unsigned char>(bytes_[4]);
    frame.stream = static_cast<std::int32_t>(read_big_endian(std::string_view(bytes_).substr(5, 4)));
    frame.payload = bytes_.substr(header, length);
    bytes_.erase(0, header + length);
    return true;
  }
  /// Decodes the header block of a HEADERS frame that has all of it, and no padding.
  FieldList fields(const Frame& frame) {
    FieldList list;
    auto* at = reinterpret_cast<const std::uint8_t*>(frame.payload.data());
    std::size_t left = frame.payload.size();
    for (;;) {
      nghttp2_nv pair{};
      int flags = 0;
      const auto used = nghttp2_hd_inflate_hd2(inflater_.get(), &pair, &flags, at, left, 1);
      assert(used >= 0);
      at += used;
      left -= static_cast<std::size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        list.emplace_back(std::string(reinterpret_cast<char*>(pair.name), pair.namelen),
                          std::string(reinterpret_cast<char*>(pair.value), pair.valuelen));
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_.get());
    return list;
  }

 private:
  struct Delete {
    void operator()(nghttp2_hd_inflater* inflater) const { nghttp2_hd_inflate_del(inflater); }
  };
  std::unique_ptr<nghttp2_hd_inflater, Delete> inflater_;
  std::string bytes_;
};

}  // namespace reprise::play
