// A strict, slow and simple parser of HTTP/1 messages, independent of the proxy and used only for comparison.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::fuzz {

/// The result of parsing the message at the start of some bytes.
struct Message {
  /// `unfinished`: the bytes may be the start of a valid message.
  enum class State : std::uint8_t { refused, unfinished, whole };
  enum class Body : std::uint8_t { none, length, chunked, until_close };
  State state = State::refused;
  bool has_head = false;  ///< true if the head is complete and the members below are set
  Body kind = Body::none;
  std::uint64_t length = 0;  ///< set only if `kind` is `length`
  std::string body;          ///< set only if the message is complete
  std::size_t end = 0;       ///< one past the last byte; set only if the message is complete
};

/// Parses the message at the start of `bytes`, which are all bytes of the connection: a response may end with
/// them. Understands only the chunked coding and has no limits. Rejects every error of the RFC except those
/// that a recipient may ignore (RFC 9112 2.2, 5.2):
/// - empty lines before a request;
/// - repeated equal lengths;
/// - in responses: a blank before a colon, a length together with `chunked`, a missing blank after the
///   status, lines that end in LF alone, folds in head and trailer section, and `identity`.
Message read_strictly_request(const std::string& bytes);
Message read_strictly_response(const std::string& bytes, const std::string& request_method);

}  // namespace reprise::fuzz
