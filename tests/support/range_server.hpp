// Responses of an upstream to range requests for one representation. They are correct unless a test changes
// them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/http_reader.hpp"

namespace reprise::play {

/// Makes a representation. Each byte depends on its offset only, so that a misplaced byte is noticed.
inline std::string representation(std::size_t bytes) {
  std::string body(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>('!' + (i * 31 + i / 94) % 94);
  return body;
}

/// Returns N of `Range: bytes=N-`; null if there is no such field.
inline std::optional<std::size_t> range_start(std::string_view head) {
  const std::string range = field_of(head, "Range");
  std::size_t first = 0;
  if (!range.starts_with("bytes=")) return std::nullopt;
  if (std::from_chars(range.data() + 6, range.data() + range.size(), first).ec != std::errc())
    return std::nullopt;
  return first;
}

/// The parts of a 200 or 206 response. A test can make any part wrong.
struct RangeResponse {
  int status = 200;
  std::string entity_tag = "\"v1\"";  ///< empty: no field
  std::string content_type = "text/plain";
  std::string content_range;  ///< empty: no field
  std::string fields;         ///< more field lines, each with CRLF
  std::string body;
  std::optional<std::size_t> length;  ///< announced length; null: the body's length

  std::string text() const {
    std::string out = "HTTP/1.1 " + std::to_string(status) +
                      " Told\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: " + content_type +
                      "\r\n";
    if (!entity_tag.empty()) out += "ETag: " + entity_tag + "\r\n";
    if (!content_range.empty()) out += "Content-Range: " + content_range + "\r\n";
    out += fields + "Content-Length: " + std::to_string(length.value_or(body.size())) + "\r\n\r\n";
    return out + body;
  }
};

inline RangeResponse whole_of(const std::string& body) {
  RangeResponse response;
  response.body = body;
  return response;
}

inline RangeResponse rest_of(const std::string& body, std::size_t first) {
  RangeResponse response;
  response.status = 206;
  response.body = body.substr(first);
  response.content_range = "bytes " + std::to_string(first) + "-" + std::to_string(body.size() - 1) + "/" +
                           std::to_string(body.size());
  return response;
}

/// Returns the correct response to a request with this head.
inline RangeResponse honest(const std::string& body, std::string_view head) {
  const auto first = range_start(head);
  const std::string condition = field_of(head, "If-Range");
  return first && *first < body.size() && condition == "\"v1\"" ? rest_of(body, *first) : whole_of(body);
}

}  // namespace reprise::play
