#include "config/keys/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

using policy::lower;

struct Address {
  std::array<unsigned char, 16> bytes{};
  std::size_t size = 0;  // bytes of the address: 4 for IPv4, 16 for IPv6
};

std::optional<Address> numeric(std::string_view text) {
  Address address;
  const std::string terminated(text);
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) {
    address.size = 4;
    return address;
  }
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) {
    address.size = 16;
    return address;
  }
  return std::nullopt;
}

std::string canonical(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.size == 4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size());
  return text.data();
}

bool bit(const Address& address, std::size_t index) {
  return (address.bytes[index / 8] & (0x80U >> (index % 8))) != 0;
}

std::optional<std::uint16_t> port_number(std::string_view text) {
  const auto port = parse_whole(text);
  if (!port || *port.value > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port.value);
}

// Returns the host without the brackets of `[v6]`, and a host without brackets unchanged. Returns nothing if
// the brackets are malformed.
std::optional<std::string_view> without_brackets(std::string_view host) {
  if (!host.starts_with('[')) return host;
  if (!host.ends_with(']') || host.find(':') == std::string_view::npos) return std::nullopt;
  return host.substr(1, host.size() - 2);
}

bool is_label(std::string_view label) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= 63 && std::all_of(label.begin(), label.end(), allowed);
}

bool is_name(std::string_view name) {
  if (name.size() > 253) return false;
  for (;;) {
    const std::size_t dot = name.find('.');
    if (!is_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_wildcard(const Address& address) {
  return std::all_of(address.bytes.begin(), address.bytes.end(),
                     [](unsigned char byte) { return byte == 0; });
}

}  // namespace

Parsed<Endpoint> parse_endpoint(std::string_view text) {
  const std::string form = "is not an endpoint: write address:port, such as 127.0.0.1:3128 or [::1]:3128";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    if (numeric(text))
      return refuse<Endpoint>("has no port: write address:port", std::string(text) + ":3128");
    if (port_number(text))
      return refuse<Endpoint>("has no address: write address:port", "127.0.0.1:" + std::string(text));
    return refuse<Endpoint>(form);
  }
  const std::string_view host = text.substr(0, colon);
  if (!host.starts_with('[') && host.find(':') != std::string_view::npos)
    return refuse<Endpoint>("is an IPv6 address without brackets: write [::1]:3128");
  const auto bare = without_brackets(host);
  const auto port = port_number(text.substr(colon + 1));
  if (!bare) return refuse<Endpoint>(form);
  if (!port) return refuse<Endpoint>("has no valid port: a port is 0 to 65535, and 0 binds a free port");
  const auto address = numeric(*bare);
  if (!address) {
    const bool local = lower(*bare) == "localhost" || bare->empty();
    const std::string meant = local ? "127.0.0.1:" : (*bare == "*" ? "0.0.0.0:" : "");
    return refuse<Endpoint>(
        "has a host name: listeners bind only numeric addresses, such as 127.0.0.1 or [::1]",
        meant.empty() ? meant : meant + std::to_string(*port));
  }
  return {Endpoint{canonical(*address), *port}, {}, {}};
}

Parsed<std::string> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto given = without_brackets(text.substr(0, slash));
  auto address = given ? numeric(*given) : std::nullopt;
  if (!address)
    return refuse<std::string>("is not a network: write 10.0.0.0/8, fe80::/10 or a single address");
  const std::size_t width = address->size * 8;
  std::size_t prefix = width;
  if (slash != std::string_view::npos) {
    const auto length = parse_whole(text.substr(slash + 1));
    if (!length || *length.value > width)
      return refuse<std::string>("has no valid prefix length: it must be 0 to " + std::to_string(width));
    prefix = static_cast<std::size_t>(*length.value);
  }
  bool beyond = false;
  for (std::size_t i = prefix; i < width; ++i) {
    if (!bit(*address, i)) continue;
    beyond = true;
    address->bytes[i / 8] = static_cast<unsigned char>(address->bytes[i / 8] & ~(0x80U >> (i % 8)));
  }
  const std::string network = canonical(*address) + "/" + std::to_string(prefix);
  if (beyond) return refuse<std::string>("has bits set beyond its prefix length", network);
  return {network, {}, {}};
}

Parsed<std::pair<std::uint16_t, std::uint16_t>> parse_ports(std::string_view text) {
  using Ports = std::pair<std::uint16_t, std::uint16_t>;
  const std::size_t dash = text.find('-');
  const auto first = port_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : port_number(text.substr(dash + 1));
  if (!first || !last || *first == 0)
    return refuse<Ports>("is not a port: write a number from 1 to 65535, or a range such as 1024-65535");
  if (*first > *last) return refuse<Ports>("is in the wrong order: the lower port comes first");
  return {Ports{*first, *last}, {}, {}};
}

Parsed<std::string> parse_host(std::string_view text) {
  const auto bare = without_brackets(text);
  if (bare) {
    if (const auto address = numeric(*bare)) return {canonical(*address), {}, {}};
  }
  std::string name = lower(text);
  if (name.ends_with('.')) name.pop_back();
  if (name.find("://") != std::string::npos) return refuse<std::string>("is a URL: write only the host name");
  if (!is_name(name))
    return refuse<std::string>("is not a host name: write a name such as api.example.com, or an address");
  return {name, {}, {}};
}

Parsed<Endpoint> parse_authority(std::string_view text, const std::string& form) {
  Endpoint authority;
  authority.port = 0;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    const auto port = port_number(text.substr(colon + 1));
    if (!port || *port == 0) return refuse<Endpoint>("has no valid port: a port is 1 to 65535");
    authority.port = *port;
    text = text.substr(0, colon);
    if (!text.starts_with('[') && text.find(':') != std::string_view::npos)
      return refuse<Endpoint>("has an IPv6 address without brackets: write http://[::1]:8080");
  }
  const auto host = parse_host(text);
  if (!host) return refuse<Endpoint>(form);
  authority.address = *host.value;
  return {authority, {}, {}};
}

Parsed<GatewayUpstream> parse_upstream(std::string_view text) {
  const std::string form =
      "is not an upstream URL: write http://host, https://host:8443 or http://host/prefix";
  const std::string lowered = lower(text.substr(0, https_scheme.size()));
  const bool https = lowered.starts_with(https_scheme);
  if (!https && !lowered.starts_with(http_scheme)) {
    const bool bare =
        text.find("://") == std::string_view::npos && parse_host(text.substr(0, text.find(':')));
    return refuse<GatewayUpstream>(form, bare ? std::string(http_scheme).append(text) : std::string());
  }
  const std::string_view rest = text.substr((https ? https_scheme : http_scheme).size());
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos)
    return refuse<GatewayUpstream>(
        "has a user name: remove it, because an upstream must not contain credentials");
  const auto where = parse_authority(authority, form);
  if (!where) return refuse<GatewayUpstream>(where.reason);
  GatewayUpstream upstream;
  upstream.https = https;
  upstream.host = where.value->address;
  upstream.port = where.value->port;
  if (upstream.port == 0) upstream.port = https ? 443 : 80;
  std::string_view prefix = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 0x7f && c != '?' && c != '#';
  };
  if (!std::all_of(prefix.begin(), prefix.end(), plain))
    return refuse<GatewayUpstream>("has a query, a fragment or a space: only a path may follow the host");
  upstream.path_prefix = std::string(prefix);
  return {upstream, {}, {}};
}

bool is_loopback(const Endpoint& endpoint) {
  const auto address = numeric(endpoint.address);
  if (!address) return false;
  if (address->size == 4) return address->bytes[0] == 127;
  Address loopback;
  loopback.bytes[15] = 1;
  return address->bytes == loopback.bytes;
}

bool collide(const Endpoint& one, const Endpoint& other) {
  if (one.port != other.port || one.port == 0) return false;
  const auto first = numeric(one.address);
  const auto second = numeric(other.address);
  if (!first || !second || first->size != second->size) return false;
  return first->bytes == second->bytes || is_wildcard(*first) || is_wildcard(*second);
}

bool leads_to(const Endpoint& target, const Endpoint& bound) {
  if (target.address == "localhost")
    return leads_to({"127.0.0.1", target.port}, bound) || leads_to({"::1", target.port}, bound);
  if (!collide(target, bound)) return false;
  const auto listens = numeric(bound.address);
  return !is_wildcard(*listens) || is_wildcard(*numeric(target.address)) || is_loopback(target);
}

std::string endpoint_text(const Endpoint& endpoint) {
  const bool v6 = endpoint.address.find(':') != std::string::npos;
  return (v6 ? "[" + endpoint.address + "]" : endpoint.address) + ":" + std::to_string(endpoint.port);
}

std::string ports_text(const std::pair<std::uint16_t, std::uint16_t>& ports) {
  if (ports.first == ports.second) return std::to_string(ports.first);
  return std::to_string(ports.first) + "-" + std::to_string(ports.second);
}

std::string upstream_text(const GatewayUpstream& upstream) {
  return std::string(upstream.https ? https_scheme : http_scheme) +
         endpoint_text({upstream.host, upstream.port}) + upstream.path_prefix;
}

}  // namespace reprise::config
