// Encodes google.rpc.Status with details, as gRPC servers send it in grpc-status-details-bin. Shares no code
// with the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::play {

inline constexpr std::string_view retry_info_url = "type.googleapis.com/google.rpc.RetryInfo";

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}
inline std::string varint_field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}
inline std::string bytes_field(std::uint64_t number, std::string_view bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + std::string(bytes);
}

/// Returns a google.protobuf.Duration. A number that is 0 is left out, as encoders do.
inline std::string duration_message(std::int64_t seconds, std::int32_t nanos) {
  std::string message;
  if (seconds != 0) message += varint_field(1, static_cast<std::uint64_t>(seconds));
  if (nanos != 0) message += varint_field(2, static_cast<std::uint64_t>(std::int64_t{nanos}));
  return message;
}
/// Returns a detail, field 3 of google.rpc.Status.
inline std::string detail(std::string_view type_url, std::string_view value) {
  return bytes_field(3, bytes_field(1, type_url) + bytes_field(2, value));
}
inline std::string retry_info(std::int64_t seconds, std::int32_t nanos = 0) {
  return detail(retry_info_url, bytes_field(1, duration_message(seconds, nanos)));
}

/// Encodes in base64 (RFC 4648 4), without padding, as gRPC does.
inline std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += letters[bits >> (count - 6) & 63U];
  }
  if (count > 0) text += letters[bits << (6 - count) & 63U];
  return text;
}
inline std::string padded_base64(std::string_view bytes) {
  std::string text = base64(bytes);
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

}  // namespace reprise::play
