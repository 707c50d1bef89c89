// Classifies requests by their heads.
#include "proxy/http/message/intake.hpp"

#include <algorithm>
#include <optional>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/message/token_set.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::http {
namespace {

bool has_body(const RequestHead& head) {
  return head.framing.kind == Framing::Kind::chunked || head.framing.length > 0;
}

Intake take_connect(const RequestHead& head, const PortRanges& connect_ports) {
  if (has_body(head)) return Rejected{Rejection::connect_with_body};
  const auto split = split_authority(head.target, 0);
  if (const Rejection* cause = std::get_if<Rejection>(&split)) return Rejected{*cause};
  const Authority& authority = std::get<Authority>(split);
  if (!is_allowed(authority.port, connect_ports)) return Rejected{Rejection::connect_port_denied};
  return Connect{authority.host, authority.port, head.target};
}

/// Returns a rejection for TRACE with a body, or the proxy's own response for OPTIONS and TRACE with
/// Max-Forwards 0 (RFC 9110 7.6.2, 9.3.8). Returns nothing if the request is to be processed further.
std::optional<Intake> stop_here(const RequestHead& head) {
  const bool trace = head.method == "TRACE";
  if (!trace && head.method != "OPTIONS") return std::nullopt;
  if (trace && has_body(head)) return Rejected{Rejection::trace_with_body};
  bool seen = false;
  std::optional<std::uint64_t> left;
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::max_forwards) continue;
    left = ascii::decimal(field.value);
    if (seen || !left) return Rejected{Rejection::bad_max_forwards};
    seen = true;
  }
  if (left == std::uint64_t{0}) return Respond{};
  return std::nullopt;
}

/// Returns true if the client's Host field names the host and port of the target, in any spelling.
bool names_same_host(const RequestHead& head, const Target& target) {
  const FieldLine* const host = head.find(FieldId::host);
  if (host == nullptr) return false;
  if (host->value == target.authority) return true;
  const auto split = split_authority(host->value, target.https ? 443 : 80);
  const Authority* const named = std::get_if<Authority>(&split);
  return named != nullptr && named->port == target.origin.port &&
         ascii::same(named->host, target.origin.host);
}

/// Returns true for the default port of the scheme.
bool is_standard(std::uint16_t port, bool https) { return port == (https ? https_port : http_port); }

/// Returns true if a target in absolute-form names the listener or its upstream. The schemes may differ,
/// because a client may use http for an upstream that is reached over TLS.
bool is_for_gateway(const Target& target, const GatewayTarget& upstream) {
  const Authority& named = target.origin;
  const bool own_host =
      policy::is_same_host(named.host, upstream.own_host) ||
      (is_loopback_host(upstream.own_host) && policy::is_same_host(named.host, "localhost"));
  if (own_host && named.port == upstream.own_port) return true;
  const bool same_port = named.port == upstream.port || (is_standard(named.port, target.https) &&
                                                         is_standard(upstream.port, upstream.https));
  return same_port && policy::is_same_host(named.host, upstream.host);
}

/// Returns the number after `attempt=` in `attempt=2; max=3`.
std::optional<std::uint64_t> sdk_attempt(std::string_view value) {
  while (!value.empty()) {
    const std::size_t semicolon = value.find(';');
    const std::string_view part = ascii::trim(value.substr(0, semicolon));
    if (ascii::starts_with(part, "attempt=")) return ascii::decimal(part.substr(8));
    if (semicolon == std::string_view::npos) break;
    value.remove_prefix(semicolon + 1);
  }
  return std::nullopt;
}

bool marks_retry(const FieldLine& field) {
  if (field.id == FieldId::reprise) {
    return ascii::same(field.name, "reprise-attempt") && ascii::decimal(field.value).value_or(0) > 1;
  }
  if (field.id != FieldId::other) return false;
  if (ascii::same(field.name, "amz-sdk-request")) return sdk_attempt(field.value).value_or(0) > 1;
  if (ascii::same(field.name, "x-stainless-retry-count") ||
      ascii::same(field.name, "grpc-previous-rpc-attempts")) {
    return ascii::decimal(field.value).value_or(0) > 0;
  }
  return false;
}

}  // namespace

bool is_allowed(std::uint16_t port, const PortRanges& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [port](const auto& range) { return port >= range.first && port <= range.second; });
}

Intake take_forward(const RequestHead& head, const PortRanges& connect_ports) {
  if (head.method == "CONNECT") return take_connect(head, connect_ports);
  if (head.target == "*" || head.target.starts_with('/')) return Rejected{Rejection::not_a_proxy_request};
  const auto split = split_absolute(head.target);
  if (const Rejection* cause = std::get_if<Rejection>(&split)) return Rejected{*cause};
  const Target& target = std::get<Target>(split);
  if (const auto stop = stop_here(head)) return *stop;
  Forward forward{target.origin.host, target.origin.port, target.origin.host, target.https, {}, target};
  if (!names_same_host(head, target)) forward.host_field = target.authority;
  return forward;
}

Intake take_gateway(const RequestHead& head, const GatewayTarget& upstream) {
  if (head.method == "CONNECT") return Rejected{Rejection::connect_to_gateway};
  if (head.target == "*" && head.method != "OPTIONS") return Rejected{Rejection::bad_target};
  const bool absolute = head.target != "*" && !head.target.starts_with('/');
  const auto split = absolute ? split_absolute(head.target) : split_origin(head.target);
  if (const Rejection* cause = std::get_if<Rejection>(&split)) return Rejected{*cause};
  const Target& target = std::get<Target>(split);
  if (absolute && !is_for_gateway(target, upstream)) return Rejected{Rejection::misdirected_request};
  if (const auto stop = stop_here(head)) return *stop;
  Forward forward{upstream.host, upstream.port, upstream.host, upstream.https, upstream.authority, target};
  if (!upstream.authority.empty()) return forward;
  if (absolute) {
    if (!names_same_host(head, target)) forward.host_field = target.authority;
    forward.server_name = target.origin.host;
    return forward;
  }
  // Without Host (possible only in HTTP/1.0), the client has given no name that could be sent upstream as
  // Host.
  const FieldLine* const host = head.find(FieldId::host);
  if (host == nullptr) return Rejected{Rejection::missing_host};
  const auto named = split_authority(host->value, upstream.port);
  if (const Authority* const authority = std::get_if<Authority>(&named))
    forward.server_name = authority->host;
  return forward;
}

Intake take_tunnelled(const RequestHead& head, const Connect& tunnel, bool https) {
  if (head.method == "CONNECT") return Rejected{Rejection::bad_method};
  if (!is_own_target(head.target, tunnel, https))
    return Rejected{head.over_http2 ? Rejection::misdirected_request : Rejection::bad_target};
  const bool named = head.find(FieldId::host) != nullptr;
  const std::string_view authority = named ? std::string_view() : tunnel.authority;
  Intake intake = take_gateway(head, {tunnel.host, tunnel.port, https, authority, tunnel.host, tunnel.port});
  if (auto* const forward = std::get_if<Forward>(&intake)) forward->server_name = tunnel.host;
  return intake;
}

Intake take_redirected(const RequestHead& head, const Connect& original) {
  Intake intake = take_tunnelled(head, original);
  auto* const forward = std::get_if<Forward>(&intake);
  const FieldLine* const host = head.find(FieldId::host);
  if (forward == nullptr || host == nullptr) return intake;
  const auto named = split_authority(host->value, original.port);
  if (const Authority* const authority = std::get_if<Authority>(&named))
    forward->host = forward->server_name = authority->host;
  return intake;
}

bool is_own_target(std::string_view target, const Connect& tunnel, bool https) {
  if (target == "*" || target.starts_with('/')) return true;
  const auto split = split_absolute(target);
  const Target* const named = std::get_if<Target>(&split);
  return named != nullptr && named->https == https && named->origin.port == tunnel.port &&
         policy::is_same_host(named->origin.host, tunnel.host);
}

std::string named_target(const RequestHead& head) {
  const auto spelled = [](std::string_view text, std::uint16_t default_port) {
    const auto split = split_authority(text, default_port);
    const Authority* const authority = std::get_if<Authority>(&split);
    return authority == nullptr ? std::string() : authority_text(authority->host, authority->port);
  };
  if (head.method == "CONNECT") return spelled(head.target, 0);
  const auto split = split_absolute(head.target);
  if (const Target* const target = std::get_if<Target>(&split))
    return spelled(target->authority, target->https ? https_port : http_port);
  const FieldLine* const host = head.find(FieldId::host);
  return host == nullptr ? std::string() : spelled(host->value, http_port);
}

bool is_nested_retry(const RequestHead& head) {
  return std::any_of(head.fields.begin(), head.fields.end(), marks_retry);
}

bool is_no_store(const RequestHead& head) {
  return std::any_of(head.fields.begin(), head.fields.end(), [](const FieldLine& field) {
    return ascii::same(field.name, "Cache-Control") && ascii::lists(field.value, "no-store");
  });
}

bool asks_upgrade(const RequestHead& head, ToH2c to_h2c) {
  if (head.minor_version == 0) return false;
  bool named = false;
  bool offered = false;
  for (const FieldLine& field : head.fields) {
    if (field.id == FieldId::connection) named = named || ascii::lists(field.value, "upgrade");
    if (field.id != FieldId::upgrade) continue;
    ascii::for_each_member(field.value, [&offered, to_h2c](std::string_view protocol) {
      offered = offered || to_h2c == ToH2c::passed || !ascii::same(protocol, "h2c");
    });
  }
  return named && offered;
}

bool is_create_only(const RequestHead& head) {
  return (head.method == "PUT" || head.method == "PATCH") && head.has("If-None-Match", "*");
}

bool offers_only_tls(const RequestHead& head) {
  bool only = asks_upgrade(head, ToH2c::dropped);
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::upgrade) continue;
    ascii::for_each_member(field.value, [&only](std::string_view protocol) {
      only = only && (ascii::same(protocol, "TLS") || ascii::starts_with(protocol, "TLS/"));
    });
  }
  return only;
}

bool is_offered_upgrade(const RequestHead& request, ToH2c to_h2c, const ResponseHead& response) {
  if (response.status != 101 || !asks_upgrade(request, to_h2c)) return false;
  TokenSet offers;
  for (const FieldLine& field : request.fields) {
    if (field.id != FieldId::upgrade) continue;
    ascii::for_each_member(field.value, [&offers](std::string_view protocol) { offers.add(protocol); });
  }
  offers.sort();
  bool any = false;
  bool all = true;
  for (const FieldLine& field : response.fields) {
    if (field.id != FieldId::upgrade) continue;
    ascii::for_each_member(field.value, [&](std::string_view protocol) {
      any = true;
      all = all && (to_h2c == ToH2c::passed || !ascii::same(protocol, "h2c")) && offers.has(protocol);
    });
  }
  return any && all;
}

}  // namespace reprise::http
