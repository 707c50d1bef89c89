// What a request head asks of a listener: forward it, open a tunnel, or be refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/target.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::http {

/// An ordinary request. All views live as long as the head's buffer.
struct Forward {
  std::string_view host;  ///< upstream host, without brackets, as written
  std::uint16_t port = 80;
  /// Who the upstream has to be over TLS: the target's host,
  /// or, on a gateway listener, that of the Host it is sent.
  std::string_view server_name;
  bool https = false;           ///< an https:// target, or a gateway's https upstream: never in clear text
  std::string_view host_field;  ///< the Host to send; empty: keep the client's own line
  Target target;
};
struct Connect {
  std::string_view host;
  std::uint16_t port = 0;
  std::string_view authority;  ///< as written
};
struct Rejected {
  Rejection cause;
};
/// Max-Forwards reached 0 on OPTIONS or TRACE: answered here with 200 (RFC 9110 7.6.2).
struct Respond {};
using Intake = std::variant<Forward, Connect, Rejected, Respond>;

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  ///< both ends inclusive

/// For a forward listener: absolute-form and CONNECT. Origin-form is refused as not_a_proxy_request.
Intake take_forward(const RequestHead&, const PortRanges& connect_ports);
/// Where a gateway listener sends everything.
struct GatewayTarget {
  std::string_view host;
  std::uint16_t port = 80;
  bool https = false;
  std::string_view authority{};  ///< what Host says when `host: upstream`; empty for `host: client`
  std::string_view own_host{};   ///< the address that the client connected to, without brackets
  std::uint16_t own_port = 0;
};
/// For a gateway listener: origin-form goes to the listener's upstream, and so does absolute-form that names
/// the listener or the upstream. Whoever asks for another host has taken the gateway for its proxy:
/// misdirected_request, so that what was meant for that host goes nowhere else. CONNECT is
/// connect_to_gateway.
Intake take_gateway(const RequestHead&, const GatewayTarget&);

/// For a request inside a tunnel that carries plain HTTP, or, `https`, inside TLS that was ended here: to the
/// tunnel's upstream, with the client's own Host, or the CONNECT's authority where a request of HTTP/1.0 has
/// none. Absolute-form only for that origin. Over TLS the upstream has to be who the tunnel was opened to.
Intake take_tunnelled(const RequestHead&, const Connect& tunnel, bool https = false);
/// For plain HTTP that was on its way to that address: for the host that the request names, or the address
/// where it names none; on that port.
Intake take_redirected(const RequestHead&, const Connect& original);
/// True if that target is meant for the tunnel's upstream: `*`, in origin-form, or in absolute-form of http,
/// or https, and of its host and port, spelled in whatever way.
bool is_own_target(std::string_view target, const Connect& tunnel, bool https = false);

/// True if one of the ranges has that port.
bool is_allowed(std::uint16_t port, const PortRanges&);

/// `host:port` that the request is for, as far as it says so: by CONNECT, in absolute-form, or in Host. Empty
/// where it does not, or not in a well-formed way. For logs: neither path nor user information.
std::string named_target(const RequestHead&);

/// True if the client says that it is itself on a retry: `amz-sdk-request: attempt=N` with N > 1,
/// `x-stainless-retry-count` > 0, `grpc-previous-rpc-attempts` > 0, `Reprise-Attempt` > 1.
bool is_nested_retry(const RequestHead&);
/// `Cache-Control: no-store` (RFC 9111 5.2.1.5): the request is not to be put on disk.
bool is_no_store(const RequestHead&);
/// True for a PUT or PATCH with `If-None-Match: *` (RFC 9110 13.1.2, row N16): its second execution fails.
bool is_create_only(const RequestHead&);

/// What becomes of `Upgrade: h2c` (row C9). Through a forward listener it is dropped: HTTP/2 comes there by
/// prior knowledge. Elsewhere it is an upgrade as any other, unless `HTTP2-Settings` makes it an offer of
/// HTTP/2: Docker BuildKit opens its session so.
enum class ToH2c : std::uint8_t { dropped, passed };

/// True for a real upgrade (RFC 9110 7.8, row C9): HTTP/1.1, `Connection: upgrade`, and to a protocol that is
/// passed on.
bool asks_upgrade(const RequestHead&, ToH2c);
/// True if that upgrade is to TLS and nothing else: a client that sends it takes any response (RFC 2817 3.1).
bool offers_only_tls(const RequestHead&);
/// True for a 101 that switches to protocols which the request offered and which are passed on, and to
/// nothing else.
bool is_offered_upgrade(const RequestHead&, ToH2c, const ResponseHead&);

}  // namespace reprise::http
