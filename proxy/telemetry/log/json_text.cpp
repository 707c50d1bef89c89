#include "proxy/telemetry/log/json_text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace reprise::telemetry {
namespace {

enum class Quoting : std::uint8_t { json, terminal };

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

constexpr bool is_plain(unsigned byte, Quoting quoting) {
  if (byte < 0x20 || byte >= 0x7f) return false;
  return quoting == Quoting::terminal || (byte != '"' && byte != '\\');
}

constexpr auto plain_in_json = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = 0; byte < plain.size(); ++byte) plain[byte] = is_plain(byte, Quoting::json);
  return plain;
}();

struct Character {
  std::size_t length = 0;  // 0: not UTF-8
  unsigned code_point = 0;
};

std::size_t sequence_length(unsigned lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// Decodes one character of two bytes or more. Rejects overlong forms, surrogates and values above U+10FFFF
// (RFC 3629).
Character decode(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  const std::size_t length = sequence_length(lead);
  if (length == 0 || text.size() - at < length) return {};
  unsigned code_point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xc0U) != 0x80U) return {};
    code_point = (code_point << 6U) | (next & 0x3fU);
  }
  constexpr unsigned lowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < lowest[length] || code_point > 0x10ffff || surrogate) return {};
  return {length, code_point};
}

// Returns true for characters that a log line must not show as they are. C1 controls can begin terminal
// commands, as ESC can. Zero-width and bidirectional marks make a line look like another line.
bool is_hidden(unsigned code_point) {
  const auto within = [code_point](unsigned first, unsigned last) {
    return code_point >= first && code_point <= last;
  };
  return within(0x80, 0x9f) || code_point == 0xad || code_point == 0x61c || code_point == 0x180e ||
         within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x2069) || code_point == 0xfeff ||
         within(0xe0000, 0xe007f);
}

// Appends a code point as `\uXXXX`. A code point above U+FFFF is written as a surrogate pair (RFC 8259
// section 7).
void append_code(std::string& out, unsigned code_point) {
  if (code_point > 0xffff) {
    append_code(out, 0xd800 + ((code_point - 0x10000) >> 10));
    append_code(out, 0xdc00 + (code_point & 0x3ff));
    return;
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point);
}

// Appends the character at `at`, escaped if it must be. Returns the character's length in `text`.
// Precondition: the character needs an escape or is not ASCII.
std::size_t append_special(std::string& out, std::string_view text, std::size_t at) {
  const unsigned byte = byte_at(text, at);
  if (byte == '"' || byte == '\\') {
    out += '\\';
    out += text[at];
    return 1;
  }
  if (byte < 0x80) {
    append_code(out, byte);
    return 1;
  }
  const Character character = decode(text, at);
  if (character.length == 0) {
    out += "\\ufffd";
    return 1;
  }
  if (is_hidden(character.code_point)) {
    append_code(out, character.code_point);
  } else {
    out += text.substr(at, character.length);
  }
  return character.length;
}

void append_escaped(std::string& out, std::string_view text, Quoting quoting) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && is_plain(byte_at(text, end), quoting)) ++end;
    out += text.substr(at, end - at);
    at = end;
    if (at < text.size()) at += append_special(out, text, at);
  }
}

bool stays_on_terminal(unsigned byte) {
  return (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t';
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && stays_on_terminal(byte_at(text, end))) ++end;
    out += text.substr(at, end - at);
    at = end;
    if (at < text.size()) at += append_special(out, text, at);
  }
  return out;
}

std::string_view clipped(std::string_view value) {
  if (value.size() <= value_limit) return value;
  std::size_t end = value_limit;
  constexpr std::size_t longest_tail = 3;
  while (end > value_limit - longest_tail && (byte_at(value, end) & 0xc0U) == 0x80U) --end;
  return value.substr(0, end);
}

// Reads all bytes without an early exit, because values are short and most of them need no escape.
bool is_plain_json(std::string_view value) {
  bool plain = true;
  for (const char byte : value) plain &= plain_in_json[static_cast<unsigned char>(byte)];
  return plain;
}

std::string escaped_json(std::string_view value) {
  std::string escaped;
  append_escaped(escaped, value, Quoting::json);
  return escaped;
}

void append_visible(std::string& out, std::string_view value) {
  append_escaped(out, value, Quoting::terminal);
}

}  // namespace reprise::telemetry
