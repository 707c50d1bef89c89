// Detects the protocol of a stream from an incomplete prefix.
#include "proxy/http/message/first_bytes.hpp"

#include <algorithm>
#include <optional>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::size_t longest_method = 32;
constexpr std::string_view scheme = "http://";
constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::string_view tls_handshake = "\x16\x03";

bool is_target_byte(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '#'; }

// Returns true if `part` is, or may still become, a target of the tunnel's own upstream.
bool may_begin_target(std::string_view method, std::string_view part) {
  if (part.empty() || part.front() == '/') return true;
  if (part.front() == '*') return part == "*" && method == "OPTIONS";
  const std::size_t known = std::min(part.size(), scheme.size());
  return ascii::same(part.substr(0, known), scheme.substr(0, known));
}

FirstWords judge_version(std::string_view rest) {
  constexpr std::string_view shape = "HTTP/1.x\r\n";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == rest.size()) return FirstWords::more;
    const bool fits = shape[i] == 'x' ? ascii::is_digit(rest[i]) : rest[i] == shape[i];
    if (!fits) return FirstWords::opaque;
  }
  return FirstWords::http;
}

FirstWords judge_line(std::string_view bytes, const Connect& tunnel, std::size_t longest_target) {
  const auto* const blank =
      std::find_if_not(bytes.begin(), bytes.end(), [](char c) { return ascii::is_token(c); });
  const auto method = bytes.substr(0, static_cast<std::size_t>(blank - bytes.begin()));
  if (method.size() > longest_method) return FirstWords::opaque;
  if (blank == bytes.end()) return FirstWords::more;
  if (method.empty() || method == "CONNECT" || *blank != ' ') return FirstWords::opaque;
  const std::string_view rest = bytes.substr(method.size() + 1);
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), is_target_byte);
  const auto target = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  if (target.size() > longest_target || !may_begin_target(method, target)) return FirstWords::opaque;
  if (end == rest.end()) return FirstWords::more;
  if (target.empty() || *end != ' ' || !is_own_target(target, tunnel)) return FirstWords::opaque;
  return judge_version(rest.substr(target.size() + 1));
}

// Returns `found` if `bytes` hold the whole opening, and `more` if they hold a part of it. Returns nothing if
// they differ.
std::optional<FirstWords> judge_opening(std::string_view bytes, std::string_view opening, FirstWords found) {
  const std::size_t known = std::min(bytes.size(), opening.size());
  if (bytes.substr(0, known) != opening.substr(0, known)) return std::nullopt;
  return known == opening.size() ? found : FirstWords::more;
}

FirstWords judge_bytes(std::string_view bytes, const Connect& tunnel, std::size_t longest_target) {
  if (bytes.empty()) return FirstWords::more;
  if (const auto words = judge_opening(bytes, tls_handshake, FirstWords::tls)) return *words;
  if (const auto words = judge_opening(bytes, http2_preface, FirstWords::http2)) return *words;
  return judge_line(bytes, tunnel, longest_target);
}

}  // namespace

FirstWords judge_first_words(const Heard& heard, const Connect& tunnel, std::size_t longest_target) {
  if (heard.upstream_spoke) return FirstWords::server_first;
  const FirstWords words = judge_bytes(heard.from_client, tunnel, longest_target);
  if (words != FirstWords::more || !heard.waited_enough) return words;
  return heard.from_client.empty() ? FirstWords::silence : FirstWords::opaque;
}

}  // namespace reprise::http
