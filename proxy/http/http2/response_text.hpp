// Checks the fields of a response as HTTP/2 decodes them, and writes them as HTTP/1 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/http2/block_check.hpp"

namespace reprise::http {

/// One header block of a response: an interim head, the final head, or the trailer section. Add every field
/// of the block before calling `end`. Fields after a rejected field are not stored.
class ResponseText {
 public:
  using Section = BlockCheck::Section;

  /// Starts a block. For each field, its name, its value and 32 more bytes count against the limit
  /// `HeadLimits::bytes` (RFC 9113 6.5.2).
  void begin(Section, const HeadLimits&);
  /// Checks a decoded field (rows M49 to M51) and stores it. A field that must not be in trailers is checked
  /// but not stored there (RFC 9110 6.5.1).
  void add(std::string_view name, std::string_view value);
  /// Rejects the block because of a field that the decoder has found invalid.
  void refuse(std::string_view name, std::string_view value);
  /// Ends the block. Returns why the block is malformed or too large; nothing if it is neither.
  std::optional<Rejection> end();

  /// Returns the status of a head; 0 for trailers.
  int status() const { return status_; }
  /// Returns the head, from its status line to its empty line, or the lines of the trailer section.
  const std::string& text() const { return text_; }

 private:
  void add_pseudo(std::string_view name, std::string_view value);
  void add_status(std::string_view value);

  BlockCheck check_;
  std::string text_;
  int status_ = 0;
};

}  // namespace reprise::http
