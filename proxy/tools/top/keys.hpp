// What was pressed on a keyboard, from the bytes that a
// terminal sends (ECMA-48 sequences, as xterm has them).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tools {

enum class Key : std::uint8_t { character, up, down, page_up, page_down, home, end, enter, escape };

struct KeyPress {
  Key key = Key::character;
  char character = 0;  ///< of Key::character: ASCII

  friend bool operator==(const KeyPress&, const KeyPress&) = default;
};

/// Bytes come in pieces of any size. What no key here sends is passed over as a whole.
class KeyReader {
 public:
  std::vector<KeyPress> take(std::string_view bytes);
  /// The beginning of a sequence is waiting for its end. A terminal sends it at once: where nothing has come
  /// within some 50 ms, it was the key Escape.
  bool is_waiting() const { return !pending_.empty(); }
  /// Nothing has come.
  std::vector<KeyPress> silence();

 private:
  std::string pending_;
};

}  // namespace reprise::tools
