// A strict reading of RFC 9112, written for nothing but to
// be compared with: slow, simple, and of its own making.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::fuzz {

/// What a reading makes of the message at the start of some bytes.
struct Message {
  /// `unfinished`: so far it could become a message.
  enum class State : std::uint8_t { refused, unfinished, whole };
  enum class Body : std::uint8_t { none, length, chunked, until_close };
  State state = State::refused;
  bool has_head = false;  ///< the head is whole; what stands below is known
  Body kind = Body::none;
  std::uint64_t length = 0;  ///< for `length`
  std::string body;          ///< of a whole message
  std::size_t end = 0;       ///< of a whole message: one past its last byte
};

/// Understands the chunked coding alone, and refuses whatever the RFC calls an error, but for what it asks a
/// recipient to overlook: empty lines before a request, equal lengths that are repeated, and in responses a
/// blank before a colon, a length beside `chunked`, a missing blank behind the status, lines that end in LF
/// alone and folds of head and trailer section, and `identity` (RFC 9112 2.2, 5.2). Has no limits. The bytes
/// are all that ever comes: a response that ends with its connection ends with them.
Message read_strictly_request(const std::string& bytes);
Message read_strictly_response(const std::string& bytes, const std::string& request_method);

}  // namespace reprise::fuzz
