// Checks the fields of a response as HTTP/2 decodes them, and writes them as HTTP/1 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// One header block of a response: an interim head, the final head, or the trailer section. Add every field
/// of the block before calling `end`. Fields after a rejected field are not stored.
class ResponseText {
 public:
  enum class Section : std::uint8_t { head, trailers };

  /// Starts a block. For each field, its name, its value and 32 more bytes count against the limit
  /// `HeadLimits::bytes` (RFC 9113 6.5.2).
  void begin(Section, const HeadLimits&);
  /// Checks a decoded field (rows M49 to M51) and stores it.
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
  void reject(Rejection);
  void add_status(std::string_view value);
  void check_length(std::string_view value);

  Section section_ = Section::head;
  HeadLimits limits_;
  std::string text_;
  std::string length_;  ///< the value of Content-Length; empty if there is none
  std::size_t counted_bytes_ = 0;
  std::size_t fields_ = 0;
  int status_ = 0;
  std::optional<Rejection> rejection_;
};

}  // namespace reprise::http
