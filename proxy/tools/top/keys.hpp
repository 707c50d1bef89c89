// Decodes pressed keys from the bytes that a terminal sends (ECMA-48 sequences, as in xterm).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

enum class Key : std::uint8_t { character, up, down, page_up, page_down, home, end, enter, escape };

struct KeyPress {
  Key key = Key::character;
  char character = 0;  ///< for Key::character: ASCII

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// Takes bytes in pieces of any size. Ignores each sequence that is not one of these keys.
class KeyReader {
 public:
  std::vector<KeyPress> take(std::string_view bytes);
  /// Returns true if an ESC or an incomplete sequence is pending. A terminal sends a sequence at once, so if
  /// no more bytes come within about 50 ms, it was the key Escape.
  bool is_waiting() const { return !pending_.empty(); }
  /// Call if no more bytes came. Returns the pending Escape, if there is one.
  std::vector<KeyPress> timed_out();

 private:
  std::string pending_;
};

}  // namespace reprise::tools
