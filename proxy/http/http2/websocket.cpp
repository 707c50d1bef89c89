#include "proxy/http/http2/websocket.hpp"

#include <openssl/evp.h>

#include "proxy/http/http2/field_lines.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::string_view accept_name = "Sec-WebSocket-Accept";
constexpr int switching_protocols = 101;

std::string base64(const unsigned char* bytes, std::size_t count) {
  std::string text((count + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock appends a NUL
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(count));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// Returns true if the response has the field exactly once, and with the value that fits the key.
bool accepts_key(std::string_view key, const ResponseHead& response) {
  const std::string expected = websocket_accept(key);
  std::size_t count = 0;
  bool fits = false;
  for (const FieldLine& field : response.fields) {
    if (!ascii::same(field.name, accept_name)) continue;
    ++count;
    fits = field.value == expected;
  }
  return fits && count == 1;
}

}  // namespace

std::string websocket_key(const std::array<unsigned char, 16>& random) {
  return base64(random.data(), random.size());
}

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
  // Without SHA-1 no response is accepted.
  return done == 1 ? base64(digest.data(), length) : std::string();
}

// In a request that arrived over HTTP/2, only this proxy writes an Upgrade field (row M50).
std::string_view websocket_fault(const RequestHead& request, const ResponseHead& response) {
  if (!request.over_http2 || request.find(FieldId::upgrade) == nullptr) return {};
  if (response.status / 100 == 2) return "the upstream did not switch to the WebSocket protocol";
  if (response.status != switching_protocols) return {};
  const FieldLine* const key = request.find("Sec-WebSocket-Key");
  const bool fits = key != nullptr && accepts_key(key->value, response);
  return fits ? std::string_view() : "Sec-WebSocket-Accept is missing or wrong";
}

std::string opened_websocket(const ResponseHead& head) {
  std::string text = "HTTP/1.1 200 OK\r\n";
  for (const FieldLine& field : head.fields) {
    if (!ascii::same(field.name, accept_name)) text += field.line;
  }
  text += "\r\n";
  return text;
}

std::string switched_websocket(std::string_view head) {
  take_until(head, "\r\n");
  std::string text = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n";
  while (!head.empty()) {
    const std::string_view line = take_until(head, "\r\n");
    if (!line.starts_with("content-length:")) ascii::append(text, line, "\r\n");
  }
  return text;
}

}  // namespace reprise::http
