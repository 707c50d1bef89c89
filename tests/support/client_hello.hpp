// Builds TLS ClientHellos for tests that send or parse them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::play {

/// Returns `value` as a big-endian number of `width` bytes.
inline std::string number(std::size_t value, std::size_t width) {
  std::string bytes(width, '\0');
  for (std::size_t i = width; i > 0; --i, value >>= 8U) bytes[i - 1] = static_cast<char>(value & 0xffU);
  return bytes;
}

/// Returns a length field of `width` bytes, followed by `bytes`.
inline std::string vector(std::string_view bytes, std::size_t width) {
  return number(bytes.size(), width).append(bytes);
}

inline std::string record(std::string_view fragment) {
  return std::string("\x16\x03\x01").append(vector(fragment, 2));
}

inline std::string extension(std::size_t type, std::string_view content) {
  return number(type, 2).append(vector(content, 2));
}

/// Returns the handshake message ClientHello with these extensions. If `extensions` is empty, the message has
/// no list of extensions.
inline std::string hello_message(std::string_view extensions) {
  std::string body("\x03\x03");
  body.append(32, 'r').append(vector("session", 1)).append(vector("\x13\x01\x13\x02", 2));
  body.append(vector(std::string_view("\0", 1), 1));
  if (!extensions.empty()) body.append(vector(extensions, 2));
  return std::string("\x01").append(vector(body, 3));
}

/// Returns the extensions server_name, supported_versions and key_share, the last one with 1200 bytes.
inline std::string some_extensions() {
  return extension(0, vector(std::string(1, '\0') + vector("api.test", 2), 2)) +
         extension(43, "\x02\x03\x04") + extension(51, std::string(1200, 'k'));
}

/// Returns one ClientHello in one record, as most clients send it.
inline std::string client_hello() { return record(hello_message(some_extensions())); }

}  // namespace reprise::play
