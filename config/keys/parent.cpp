#include "config/keys/parent.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "config/keys/address.hpp"
#include "config/keys/patterns.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view hidden = "***";

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = policy::to_lower(c);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a') + 10;
  return std::nullopt;
}

// Returns the text with percent escapes decoded. Returns nothing if an escape is malformed, or if the result
// has a control character.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      byte = static_cast<unsigned char>(*high * 16 + *low);
      i += 2;
    }
    if (byte < 0x20 || byte == 0x7f) return std::nullopt;
    decoded.push_back(static_cast<char>(byte));
  }
  return decoded;
}

// Encodes in base64 (RFC 4648 4).
std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::array<unsigned, 3> group{};
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < count; ++k) group[k] = static_cast<unsigned char>(bytes[i + k]);
    const unsigned bits = group[0] << 16U | group[1] << 8U | group[2];
    for (std::size_t k = 0; k < 4; ++k)
      text.push_back(k <= count ? letters[(bits >> (18U - 6U * k)) & 63U] : '=');
  }
  return text;
}

// Sets the credentials of the parent. Returns the reason if they are invalid, otherwise an empty text.
std::string read_credentials(std::string_view text, Parent& parent) {
  const std::size_t colon = text.find(':');
  const std::string_view user = text.substr(0, colon);
  const std::string_view password = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (user.empty()) return "has no user name before the @";
  if (password == hidden)
    return "has *** as its password, which reprise prints instead of the password: write the password";
  const auto plain_user = percent_decoded(user);
  const auto plain_password = percent_decoded(password);
  if (!plain_user || !plain_password)
    return "has a user name or password that is not correctly percent-encoded: write %25 for a percent sign, "
           "and no control characters";
  // A user name cannot contain a colon, because the first colon ends it (RFC 7617 2).
  if (plain_user->find(':') != std::string::npos)
    return "has a colon in its user name, which Basic authentication does not allow";
  parent.user = std::string(user);
  parent.authorization = "Basic " + base64(*plain_user + ":" + *plain_password);
  return {};
}

// For the beginning of an IPv4 address, such as `10.`, `10.1.2` or `10.*`, returns the network of all
// addresses with that beginning. Empty for any other text.
std::string network_begun_by(std::string_view text) {
  while (text.ends_with('.') || text.ends_with(".*")) text.remove_suffix(text.ends_with('.') ? 1 : 2);
  std::string network(text);
  std::size_t count = 1;
  for (std::size_t dot = text.find('.'); count <= 4; dot = text.find('.'), ++count) {
    const auto part = parse_whole(text.substr(0, dot));
    if (!part || *part.value > 255) return {};
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  if (count > 3) return {};
  for (std::size_t missing = count; missing < 4; ++missing) network.append(".0");
  return network + "/" + std::to_string(8 * count);
}

// Returns true if the last label is a number. A resolver treats such a host as an address (RFC 3696 2).
bool ends_with_number(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> read_exception(std::string_view text) {
  if (auto network = parse_network(text)) return std::move(network.value);
  if (!network_begun_by(text).empty()) return std::nullopt;
  auto host = parse_host_pattern(text);
  if (!host || ends_with_number(host.value->text)) return std::nullopt;
  return std::move(host.value->text);
}

// Returns the text if it is a valid exception. Otherwise returns an empty text, and the message has no
// suggestion.
std::string proposal(std::string text) { return read_exception(text) ? std::move(text) : std::string(); }

}  // namespace

Parsed<std::string> parse_exception(std::string_view text) {
  if (auto exception = read_exception(text)) return {std::move(exception), {}, {}};
  if (text == "*") return refuse<std::string>("means every host: write parent: none to use no parent");
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    const std::string_view authority = text.substr(scheme + 3);
    return refuse<std::string>("is a URL: write only the host",
                               proposal(std::string(authority.substr(0, authority.find_first_of(":/")))));
  }
  if (text.find('/') != std::string_view::npos) return parse_network(text);
  if (std::string begun = network_begun_by(text); !begun.empty())
    return refuse<std::string>("is the beginning of an address: write a network", std::move(begun));
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && parse_whole(text.substr(colon + 1)))
    return refuse<std::string>("has a port: write only the host",
                               proposal(std::string(text.substr(0, colon))));
  const std::size_t suffix = std::min(text.find_first_not_of("*."), text.size());
  return refuse<std::string>(
      "is not a host: write a name, *.suffix, an address or a network such as 10.0.0.0/8",
      suffix > 0 ? proposal("*." + std::string(text.substr(suffix))) : std::string());
}

Parsed<Parent> parse_parent(std::string_view text) {
  const std::string form =
      "is not a proxy URL: write http://proxy:3128, https://proxy:3128 or http://user:password@proxy:3128";
  const std::string lowered = policy::lower(text.substr(0, https_scheme.size()));
  const bool secure = lowered == https_scheme;
  if (!secure && !lowered.starts_with(http_scheme)) return refuse<Parent>(form);
  std::string_view rest = text.substr(secure ? https_scheme.size() : http_scheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?# ") != std::string_view::npos)
    return refuse<Parent>(
        "has more than a host and a port: write http://proxy:3128, and percent-encode / ? # and spaces in a "
        "password");
  Parent parent;
  if (secure) parent.tls.emplace();
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    if (std::string reason = read_credentials(rest.substr(0, at), parent); !reason.empty())
      return refuse<Parent>(std::move(reason));
    rest.remove_prefix(at + 1);
  }
  auto where = parse_authority(rest, form);
  if (!where) return refuse<Parent>(std::move(where.reason));
  if (where.value->port == 0) return refuse<Parent>("has no port: write http://proxy:3128");
  parent.host = std::move(where.value->address);
  parent.port = where.value->port;
  return {std::move(parent), {}, {}};
}

std::string parent_text(const Parent& parent) {
  std::string text(parent.tls ? https_scheme : http_scheme);
  if (!parent.user.empty()) text.append(parent.user).append(":").append(hidden).append("@");
  return text.append(endpoint_text({parent.host, parent.port}));
}

void check_parent(const Node& root, Report& report) {
  const Node* const section = root.find("parent");
  if (section == nullptr || section->kind != Node::Kind::mapping) return;
  const Node* const url = section->find("url");
  if (url == nullptr) {
    report.error(section->line, section->column, "parent", "has no url: write url: https://proxy:3128");
    return;
  }
  const Node* const file = section->find("ca_file");
  const auto parsed = parse_parent(url->text);
  if (file != nullptr && parsed && !parsed.value->tls)
    report.error(file->line, file->column, "parent.ca_file",
                 "is only for a parent with TLS: write https:// in its url");
}

}  // namespace reprise::config
