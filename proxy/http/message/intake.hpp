// Classifies a request by its head: forward it, open a tunnel, reject it, or respond at once.
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

/// An ordinary request. All views are valid as long as the buffer of the request head.
struct Forward {
  std::string_view host;  ///< upstream host, without brackets, as written
  std::uint16_t port = 80;
  /// The name that the upstream's certificate must prove: the host of the target, or on a gateway listener
  /// the host of the Host field that is sent.
  std::string_view server_name;
  bool https = false;           ///< https:// target, or https upstream of a gateway; never sent in clear text
  std::string_view host_field;  ///< the Host value to send; empty to keep the client's own line
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
/// Max-Forwards is 0 on OPTIONS or TRACE: this proxy responds with 200 (RFC 9110 7.6.2).
struct Respond {};
using Intake = std::variant<Forward, Connect, Rejected, Respond>;

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;  ///< both ends inclusive

/// Classifies a request to a forward listener: absolute-form or CONNECT. Rejects origin-form as
/// not_a_proxy_request.
Intake take_forward(const RequestHead&, const PortRanges& connect_ports);
/// The upstream of a gateway listener, and the listener's own address.
struct GatewayTarget {
  std::string_view host;
  std::uint16_t port = 80;
  bool https = false;
  std::string_view authority{};  ///< Host to send if `host: upstream` is set; empty with `host: client`
  std::string_view own_host{};   ///< address to which the client connected, without brackets
  std::uint16_t own_port = 0;
};
/// Classifies a request to a gateway listener. Origin-form goes to the listener's upstream, and so does
/// absolute-form that names the listener or the upstream. Absolute-form for another host is rejected as
/// misdirected_request: the client uses the gateway as its proxy, and the request must not reach this
/// upstream. CONNECT is rejected as connect_to_gateway.
Intake take_gateway(const RequestHead&, const GatewayTarget&);

/// Classifies a request inside a tunnel; the request goes to the tunnel's upstream. If `https` is true, the
/// request came inside TLS that this proxy terminated, and the upstream must prove the name to which the
/// tunnel was opened. The upstream gets the client's own Host, or the authority of the CONNECT if an HTTP/1.0
/// request has no Host. Accepts absolute-form only for the tunnel's origin.
Intake take_tunnelled(const RequestHead&, const Connect& tunnel, bool https = false);
/// Classifies a plain HTTP request on a connection that was redirected to this proxy. `original` is the
/// address to which the client connected. The request goes to the host that it names, or to `original` if it
/// names none. The port is always that of `original`.
Intake take_redirected(const RequestHead&, const Connect& original);
/// Returns true if `target`, from a request inside the tunnel, is meant for the tunnel's upstream. This is
/// the case for `*`, for origin-form, and for absolute-form with the tunnel's host and port (in any spelling)
/// and its scheme. The scheme of the tunnel is https if `https` is true, otherwise http.
bool is_own_target(std::string_view target, const Connect& tunnel, bool https = false);

/// Returns true if one of the ranges contains the port.
bool is_allowed(std::uint16_t port, const PortRanges&);

/// Returns the `host:port` that the request names in CONNECT, absolute-form, or Host. Empty if the request
/// names no host, or if that text is malformed. For logs: contains neither path nor user information.
std::string named_target(const RequestHead&);

/// Returns true if the request is the client's own retry: `amz-sdk-request: attempt=N` with N > 1,
/// `x-stainless-retry-count` > 0, `grpc-previous-rpc-attempts` > 0, or `Reprise-Attempt` > 1.
bool is_nested_retry(const RequestHead&);
/// Returns true for `Cache-Control: no-store` (RFC 9111 5.2.1.5): the request must not be written to disk.
bool is_no_store(const RequestHead&);
/// Returns true for a PUT or PATCH with `If-None-Match: *` (RFC 9110 13.1.2, row N16). A second execution of
/// such a request fails if the first took effect.
bool is_create_only(const RequestHead&);

/// How the protocol `h2c` in an Upgrade field is handled (row C9). A forward listener uses `dropped`, because
/// clients can use HTTP/2 there with prior knowledge. Other listeners use `passed`, because Docker BuildKit
/// opens its session with this upgrade. Even with `passed`, an `h2c` with an HTTP2-Settings field is dropped,
/// because it is an offer of HTTP/2.
enum class ToH2c : std::uint8_t { dropped, passed };

/// Returns true if the request asks for an upgrade that is passed on (RFC 9110 7.8, row C9): HTTP/1.1 with
/// `Connection: upgrade`, and at least one protocol that is not dropped.
bool asks_upgrade(const RequestHead&, ToH2c);
/// Returns true if the request offers an upgrade to TLS only. Such an offer is optional: the client also
/// accepts a response without TLS (RFC 2817 3.1).
bool offers_only_tls(const RequestHead&);
/// Returns true for a 101 that switches only to protocols that the request offered and the proxy passed on.
bool is_offered_upgrade(const RequestHead&, ToH2c, const ResponseHead&);

}  // namespace reprise::http
