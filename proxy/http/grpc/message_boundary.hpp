// Follows the messages of a gRPC stream through pieces of its body.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::http {

/// Finds the ends of messages by their prefixes: one byte of flags and the length in four bytes, the highest
/// first. Stores no content.
class MessageBoundary {
 public:
  /// Reads the next bytes of the body. A body may be split anywhere.
  void add(std::string_view piece);

  bool begun() const { return begun_; }  ///< any byte was read
  /// Returns true at the beginning of the body and at the end of each message.
  bool between_messages() const { return prefix_bytes_read_ == 0; }
  /// Returns the number of complete messages.
  std::uint64_t messages() const { return messages_; }

 private:
  std::uint64_t messages_ = 0;
  std::uint32_t bytes_left_ = 0;  ///< of the current message; valid when its prefix is complete
  std::uint8_t prefix_bytes_read_ = 0;
  bool begun_ = false;
};

}  // namespace reprise::http
