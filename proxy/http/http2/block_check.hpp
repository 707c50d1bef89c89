// Checks the fields of one header block of HTTP/2 by the rules that requests and responses share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// Counts the fields of one header block against the limits, and keeps the first cause of rejection.
class BlockCheck {
 public:
  enum class Section : std::uint8_t { head, trailers };

  /// Starts a block.
  void begin(Section, const HeadLimits&);
  Section section() const { return section_; }
  const HeadLimits& limits() const { return limits_; }

  /// Rejects the block. Keeps the cause if the block is rejected already.
  void reject(Rejection);
  const std::optional<Rejection>& rejection() const { return rejection_; }

  /// Counts the bytes of a name and its value, and 32 more, against `HeadLimits::bytes` (RFC 9113 6.5.2, row
  /// M96).
  void count_bytes(std::size_t bytes);
  /// Counts one line of the HTTP/1 text against `HeadLimits::fields`.
  void count_line();
  /// Returns true if a line was counted.
  bool has_lines() const { return lines_ > 0; }

  /// Checks an ordinary field.
  /// - The name is a token in lower case, and the value has no control character and no blank at either end
  ///   (RFC 9113 8.2.1, row M49).
  /// - The field does not concern one HTTP/1 connection; `te` is `trailers` (RFC 9113 8.2.2, row M50).
  /// - The name does not look like that of a framing field (rows A2 and M49).
  /// - Content-Length is one number, occurs once, and not in trailers (row M50).
  void check(std::string_view name, std::string_view value);
  /// Returns the value of Content-Length; nothing if there is none.
  const std::optional<std::uint64_t>& length() const { return length_; }
  /// Returns true if the checked field is passed on. In trailers, fields that have a meaning only in a head
  /// are dropped (RFC 9110 6.5.1).
  bool passes(std::string_view name) const;

 private:
  void check_length(std::string_view value);

  Section section_ = Section::head;
  HeadLimits limits_;
  std::size_t bytes_ = 0;
  std::size_t lines_ = 0;
  std::optional<std::uint64_t> length_;
  std::optional<Rejection> rejection_;
};

}  // namespace reprise::http
