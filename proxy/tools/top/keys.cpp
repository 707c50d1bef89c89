#include "proxy/tools/top/keys.hpp"

#include <array>
#include <optional>

namespace reprise::tools {
namespace {

constexpr char escape = '\x1b';
// Maximum length in bytes of the escape sequence that a terminal sends for one key.
constexpr std::size_t longest_sequence = 32;

struct Sequence {
  std::string_view words;  ///< bytes after the ESC
  Key key;
};

constexpr auto sequences = std::to_array<Sequence>({
    {"[A", Key::up},
    {"OA", Key::up},
    {"[B", Key::down},
    {"OB", Key::down},
    {"[5~", Key::page_up},
    {"[6~", Key::page_down},
    {"[H", Key::home},
    {"OH", Key::home},
    {"[1~", Key::home},
    {"[7~", Key::home},
    {"[F", Key::end},
    {"OF", Key::end},
    {"[4~", Key::end},
    {"[8~", Key::end},
    {"OM", Key::enter},
});

// Returns the length of the escape sequence at the start of `text`; 0 if the sequence is incomplete. A
// sequence has the format of ECMA-48 5.4: CSI, parameters (0x30 to 0x3f), intermediates (0x20 to 0x2f), one
// final byte (0x40 to 0x7e).
std::size_t length_of(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] == 'O') return text.size() < 3 ? 0 : 3;
  // If a byte other than `[` or `O` follows ESC, this byte belongs to the next key. The ESC alone is then the
  // key Escape.
  if (text[1] != '[') return 1;
  for (std::size_t i = 2; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x40 && byte <= 0x7e) return i + 1;
    if (byte < 0x20 || byte > 0x7e || i >= longest_sequence) return i;
  }
  return 0;
}

std::optional<Key> key_of(std::string_view sequence) {
  if (sequence.size() == 1) return Key::escape;
  for (const Sequence& known : sequences)
    if (sequence.substr(1) == known.words) return known.key;
  return std::nullopt;
}

std::optional<KeyPress> press_of(char byte) {
  if (byte == '\r' || byte == '\n') return KeyPress{Key::enter, 0};
  const auto code = static_cast<unsigned char>(byte);
  if (code < 0x20 || code > 0x7e) return std::nullopt;
  return KeyPress{Key::character, byte};
}

}  // namespace

std::vector<KeyPress> KeyReader::take(std::string_view bytes) {
  std::vector<KeyPress> pressed;
  pending_ += bytes;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    if (rest.front() != escape) {
      if (const auto press = press_of(rest.front())) pressed.push_back(*press);
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t length = length_of(rest);
    if (length == 0) break;
    if (const auto key = key_of(rest.substr(0, length))) pressed.push_back({*key, 0});
    rest.remove_prefix(length);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return pressed;
}

std::vector<KeyPress> KeyReader::timed_out() {
  const bool was_escape = pending_.size() == 1;
  pending_.clear();
  if (was_escape) return {{Key::escape, 0}};
  return {};
}

}  // namespace reprise::tools
