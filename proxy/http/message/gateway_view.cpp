#include "proxy/http/message/gateway_view.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/target.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::http {
namespace {

/// Removes the text up to the next `;` (and that semicolon) from the front of `rest`, and returns the text.
std::string_view next_part(std::string_view& rest) {
  const std::size_t end = rest.find(';');
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

struct Attribute {
  std::string_view name;
  std::string_view value;
};

Attribute attribute_of(std::string_view part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return {ascii::trim(part), {}};
  return {ascii::trim(part.substr(0, equals)), ascii::trim(part.substr(equals + 1))};
}

// Returns the path by which a client of the gateway requests the resource at `path`: the path without the
// prefix. Returns nothing if `path` is outside of the prefix.
std::optional<std::string_view> below_prefix(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  const bool at_an_end = path.empty() || path.front() == '/' || path.front() == '?';
  return prefix.empty() || at_an_end ? std::optional(path) : std::nullopt;
}

std::string with_slash(std::string_view path) {
  return path.starts_with('/') ? std::string(path) : "/" + std::string(path);
}

// Rewrites a path. Any other relative reference needs no change, because the client resolves it against the
// gateway's URL. Only a `..` that leaves the prefix would lead elsewhere; it is rare, and stays.
std::optional<std::string> path_through(const GatewayView& view, std::string_view path,
                                        std::string_view fragment) {
  assert(path.starts_with('/'));
  if (view.path_prefix.empty()) return std::nullopt;
  if (const auto below = below_prefix(path, view.path_prefix)) return with_slash(*below).append(fragment);
  std::string outside(view.https ? "https://" : "http://");
  outside += authority_text(view.host, view.port, view.https ? https_port : http_port);
  return outside.append(path).append(fragment);
}

/// Returns the `Path` by which a client of the gateway sends the cookie with the same requests (RFC 6265
/// 5.1.4). Returns nothing if the value needs no change, or if no such request goes through the gateway.
std::optional<std::string> cookie_path_through(const GatewayView& view, std::string_view path) {
  if (view.path_prefix.empty() || !path.starts_with('/')) return std::nullopt;
  if (const auto below = below_prefix(path, view.path_prefix)) return with_slash(*below);
  std::string_view parent = path;
  if (parent.ends_with('/')) parent.remove_suffix(1);
  const bool covers_all = !parent.empty() && below_prefix(view.path_prefix, parent);
  return covers_all ? std::optional<std::string>("/") : std::nullopt;
}

bool is_own(const GatewayView& view, const Target& target) {
  if (target.https != view.https) return false;
  const bool upstream =
      policy::is_same_host(target.origin.host, view.host) && target.origin.port == view.port;
  // With `host: client`, the upstream receives the gateway's authority as Host, and may use it in its own
  // URLs.
  return upstream || ascii::same(target.authority, view.authority);
}

bool is_removable(std::string_view name) {
  return ascii::same(name, "secure") || ascii::same(name, "domain");
}

bool demands_secure(std::string_view set_cookie) {
  std::string_view rest = set_cookie;
  const std::string_view name = attribute_of(next_part(rest)).name;
  if (ascii::starts_with(name, "__host-") || ascii::starts_with(name, "__secure-")) return true;
  while (!rest.empty()) {
    const Attribute attribute = attribute_of(next_part(rest));
    if (ascii::same(attribute.name, "samesite") && ascii::same(attribute.value, "none")) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> location_through(const GatewayView& view, std::string_view location) {
  const std::string_view value = ascii::trim(location);
  const std::size_t hash = std::min(value.find('#'), value.size());
  const std::string_view fragment = value.substr(hash);
  const std::string_view reference = value.substr(0, hash);
  const bool no_scheme = reference.starts_with("//");
  if (reference.starts_with('/') && !no_scheme) return path_through(view, reference, fragment);
  const std::string url = (no_scheme ? (view.https ? "https:" : "http:") : "") + std::string(reference);
  if (!ascii::starts_with(url, "http")) return std::nullopt;
  const auto split = split_absolute(url);
  const auto* const target = std::get_if<Target>(&split);
  if (target == nullptr || !is_own(view, *target)) return std::nullopt;
  const auto below = below_prefix(target->path_and_query, view.path_prefix);
  if (!below) return std::nullopt;
  std::string through("http://");
  through.append(view.authority).append(with_slash(*below)).append(fragment);
  if (through == value) return std::nullopt;
  return through;
}

std::optional<std::string> cookie_through(const GatewayView& view, std::string_view set_cookie) {
  if (demands_secure(set_cookie)) return std::nullopt;
  std::string_view rest = set_cookie;
  std::string kept(next_part(rest));
  while (!rest.empty()) {
    const std::string_view part = next_part(rest);
    const Attribute attribute = attribute_of(part);
    if (is_removable(attribute.name)) continue;
    const auto path =
        ascii::same(attribute.name, "path") ? cookie_path_through(view, attribute.value) : std::nullopt;
    if (path) {
      kept.append("; Path=").append(*path);
    } else {
      kept.append(";").append(part);
    }
  }
  if (set_cookie.ends_with(';')) kept += ';';
  if (kept == set_cookie) return std::nullopt;
  return kept;
}

std::optional<std::string> value_through(const GatewayView& view, int status, const FieldLine& field) {
  if (field.id != FieldId::other) return std::nullopt;
  if (ascii::same(field.name, "set-cookie")) return cookie_through(view, field.value);
  if (status / 100 == 3 && ascii::same(field.name, "location")) return location_through(view, field.value);
  return std::nullopt;
}

bool names_gateway(const GatewayView& view, std::string_view host, std::uint16_t gateway_port) {
  const auto split = split_authority(host, http_port);
  const auto* const named = std::get_if<Authority>(&split);
  if (named == nullptr || named->port != gateway_port) return false;
  return !(policy::is_same_host(named->host, view.host) && named->port == view.port);
}

}  // namespace reprise::http
