// Splits authorities and targets by hand, because a URI library would reject or change targets that real
// clients send.
#include "proxy/http/message/target.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

consteval std::array<bool, 256> make_label_table() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 128; ++c)
    table[c] = ascii::is_letter(static_cast<char>(c)) || ascii::is_digit(static_cast<char>(c));
  for (const char c : std::string_view("-_~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> label_table = make_label_table();

/// Returns true if the text has the form of a registered name or an IPv4 address. Whether the name exists is
/// left to the resolver.
bool is_host_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > 253) return false;
  std::size_t label = 0;
  for (const char c : host) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
    } else {
      if (!label_table[static_cast<unsigned char>(c)]) return false;
      if (++label > 63) return false;
    }
  }
  return label > 0;
}

/// Checks the bytes between the brackets. Allows no zone id (RFC 6874 is for user input) and no IPvFuture.
bool is_v6_literal(std::string_view host) {
  if (host.size() < 2 || host.size() > 45) return false;
  unsigned colons = 0;
  for (const char c : host) {
    const char folded = ascii::lower(c);
    if (c == ':') {
      ++colons;
    } else if (!ascii::is_digit(c) && !(folded >= 'a' && folded <= 'f') && c != '.') {
      return false;
    }
  }
  return colons >= 2 && colons <= 8;
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  const std::optional<std::uint64_t> port = ascii::decimal(text);
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

constexpr auto ends_authority = [](char c) { return c == '/' || c == '?' || c == '#'; };

/// Removes the fragment, and splits the rest at the first '?' into path and query.
void split_path(std::string_view text, Target& target) {
  target.path_and_query = text.substr(0, text.find('#'));
  const std::size_t question = target.path_and_query.find('?');
  target.path = target.path_and_query.substr(0, question);
  if (question != std::string_view::npos) target.query = target.path_and_query.substr(question + 1);
}

struct Scheme {
  std::string_view prefix;
  bool https;
};
// A WebSocket starts with an HTTP request (RFC 6455 3), and some clients send the ws URI to a proxy
// unchanged.
constexpr std::array<Scheme, 4> schemes{
    {{"http://", false}, {"https://", true}, {"ws://", false}, {"wss://", true}}};

}  // namespace

std::variant<Authority, Rejection> split_authority(std::string_view text, std::uint16_t default_port) {
  if (text.find('@') != std::string_view::npos) return Rejection::userinfo_in_authority;
  Authority authority;
  std::string_view after;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return Rejection::bad_authority;
    authority.host = text.substr(1, bracket - 1);
    authority.literal_v6 = true;
    after = text.substr(bracket + 1);
    if (!is_v6_literal(authority.host)) return Rejection::bad_authority;
  } else {
    const std::size_t colon = text.find(':');
    authority.host = text.substr(0, colon);
    after = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
    if (!is_host_name(authority.host)) return Rejection::bad_authority;
  }
  // RFC 3986 3.2.3 allows a colon without a port.
  if (after.empty() || after == ":") {
    if (default_port == 0) return Rejection::bad_authority;
    authority.port = default_port;
    return authority;
  }
  if (after.front() != ':') return Rejection::bad_authority;
  const std::optional<std::uint16_t> port = read_port(after.substr(1));
  if (!port) return Rejection::bad_authority;
  authority.port = *port;
  authority.port_written = true;
  return authority;
}

std::variant<Target, Rejection> split_absolute(std::string_view text) {
  Target target;
  const auto* const scheme = std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& known) {
    return ascii::starts_with(text, known.prefix);
  });
  if (scheme == schemes.end()) return Rejection::bad_scheme;
  text.remove_prefix(scheme->prefix.size());
  target.https = scheme->https;
  const auto* const end = std::find_if(text.begin(), text.end(), ends_authority);
  target.authority = {text.begin(), end};
  const auto split = split_authority(target.authority, target.https ? 443 : 80);
  if (const Rejection* cause = std::get_if<Rejection>(&split)) return *cause;
  target.origin = std::get<Authority>(split);
  if (end != text.end()) split_path({end, text.end()}, target);
  return target;
}

std::variant<Target, Rejection> split_origin(std::string_view text) {
  if (text != "*" && !text.starts_with('/')) return Rejection::bad_target;
  Target target;
  split_path(text, target);
  return target;
}

void put_below(std::string_view prefix, Target& target, std::string& joined) {
  if (prefix.ends_with('/')) prefix.remove_suffix(1);
  const std::string_view own = target.path_and_query;
  if (prefix.empty() || own == "*") return;
  joined.assign(prefix);
  if (!own.starts_with('/')) joined += '/';
  joined += own;
  split_path(joined, target);
}

}  // namespace reprise::http
