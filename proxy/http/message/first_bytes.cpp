// Detects the protocol of a stream from its first bytes, which may be incomplete.
#include "proxy/http/message/first_bytes.hpp"

#include <algorithm>
#include <optional>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::size_t longest_method = 32;
constexpr std::string_view scheme = "http://";
constexpr std::string_view tls_handshake = "\x16\x03";

bool is_target_byte(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '#'; }

// Returns true if `part` is or may become a request target: origin-form, `*` for OPTIONS, or an `http://`
// target.
bool may_begin_target(std::string_view method, std::string_view part) {
  if (part.empty() || part.front() == '/') return true;
  if (part.front() == '*') return part == "*" && method == "OPTIONS";
  const std::size_t known = std::min(part.size(), scheme.size());
  return ascii::same(part.substr(0, known), scheme.substr(0, known));
}

DetectedProtocol judge_version(std::string_view rest) {
  constexpr std::string_view shape = "HTTP/1.x\r\n";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == rest.size()) return DetectedProtocol::more;
    const bool fits = shape[i] == 'x' ? ascii::is_digit(rest[i]) : rest[i] == shape[i];
    if (!fits) return DetectedProtocol::opaque;
  }
  return DetectedProtocol::http;
}

DetectedProtocol judge_line(std::string_view bytes, const Connect& tunnel, std::size_t longest_target) {
  const auto* const blank =
      std::find_if_not(bytes.begin(), bytes.end(), [](char c) { return ascii::is_token(c); });
  const auto method = bytes.substr(0, static_cast<std::size_t>(blank - bytes.begin()));
  if (method.size() > longest_method) return DetectedProtocol::opaque;
  if (blank == bytes.end()) return DetectedProtocol::more;
  if (method.empty() || method == "CONNECT" || *blank != ' ') return DetectedProtocol::opaque;
  const std::string_view rest = bytes.substr(method.size() + 1);
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_target_byte);
  const auto target = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  if (target.size() > longest_target || !may_begin_target(method, target)) return DetectedProtocol::opaque;
  if (end == rest.end()) return DetectedProtocol::more;
  if (target.empty() || *end != ' ' || !is_own_target(target, tunnel)) return DetectedProtocol::opaque;
  return judge_version(rest.substr(target.size() + 1));
}

// Returns `found` if `bytes` begin with the whole `opening`, and `more` if they are only the first part of
// `opening`. Returns nothing if they differ.
std::optional<DetectedProtocol> judge_opening(std::string_view bytes, std::string_view opening,
                                              DetectedProtocol found) {
  if (!fits_opening(bytes, opening)) return std::nullopt;
  return bytes.size() >= opening.size() ? found : DetectedProtocol::more;
}

DetectedProtocol judge_bytes(std::string_view bytes, const Connect& tunnel, std::size_t longest_target) {
  if (bytes.empty()) return DetectedProtocol::more;
  if (const auto words = judge_opening(bytes, tls_handshake, DetectedProtocol::tls)) return *words;
  if (const auto words = judge_opening(bytes, http2_preface, DetectedProtocol::http2)) return *words;
  return judge_line(bytes, tunnel, longest_target);
}

}  // namespace

bool begin_with_settings(std::string_view bytes) {
  constexpr std::size_t head_bytes = 9;
  constexpr std::size_t setting_bytes = 6;
  constexpr std::string_view settings_of_connection("\x04\0\0\0\0\0", head_bytes - 3);
  if (bytes.size() < head_bytes || bytes.front() != '\0') return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[1])) * 256U +
                      static_cast<unsigned char>(bytes[2]);
  return length % setting_bytes == 0 &&
         bytes.substr(3, settings_of_connection.size()) == settings_of_connection;
}

bool fits_opening(std::string_view bytes, std::string_view opening) {
  const std::size_t known = std::min(bytes.size(), opening.size());
  return bytes.substr(0, known) == opening.substr(0, known);
}

DetectedProtocol detect_by_first_bytes(const StreamStart& start, const Connect& tunnel,
                                       std::size_t longest_target) {
  if (start.upstream_sent && !start.upstream_speaks_http2) return DetectedProtocol::server_first;
  const DetectedProtocol words = judge_bytes(start.from_client, tunnel, longest_target);
  if (start.upstream_sent) {
    const bool is_open = words == DetectedProtocol::more && !start.waited_enough;
    return is_open || words == DetectedProtocol::http2 ? words : DetectedProtocol::server_first;
  }
  if (words != DetectedProtocol::more || !start.waited_enough) return words;
  return start.from_client.empty() ? DetectedProtocol::silence : DetectedProtocol::opaque;
}

}  // namespace reprise::http
