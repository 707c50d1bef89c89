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
  char character = 0;  ///< set for Key::character; an ASCII character

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// Decodes keys from bytes that arrive in pieces of any size. Ignores the sequences of keys that are not in
/// `Key`.
class KeyReader {
 public:
  std::vector<KeyPress> take(std::string_view bytes);
  /// Returns true if an ESC or an incomplete sequence is pending. A terminal sends the bytes of a sequence
  /// together. So if no more bytes arrive within about 50 ms, the key was Escape.
  bool is_waiting() const { return !pending_.empty(); }
  /// Call if no more bytes arrive within about 50 ms. Returns the key Escape if only an ESC is pending.
  /// Discards an incomplete sequence.
  std::vector<KeyPress> timed_out();

 private:
  std::string pending_;
};

}  // namespace reprise::tools
