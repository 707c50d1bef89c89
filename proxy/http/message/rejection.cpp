// The table of rejection causes.
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {
namespace {

struct Row {
  Rejection cause;
  int status;
  std::string_view word;
  std::string_view sentence;
  std::string_view error = "http_request_error";  ///< Proxy-Status error type (RFC 9209 2.3)
};

constexpr std::array<Row, rejection_count> rows{{
    {Rejection::bad_request_line, 400, "bad_request_line",
     "The request line must be `METHOD TARGET HTTP/1.x`, ended by CRLF. In HTTP/2, each pseudo-field of a "
     "request must occur once, before all other fields."},
    {Rejection::bad_method, 400, "bad_method",
     "The method is not a valid token, or this listener does not serve it."},
    {Rejection::method_too_long, 501, "method_too_long", "The method has more than 32 characters."},
    {Rejection::bad_target, 400, "bad_target",
     "The request target is empty, has a form that its method does not allow, or contains a space, a control "
     "character or a fragment."},
    {Rejection::target_too_long, 414, "target_too_long", "The request target is longer than limits.target."},
    {Rejection::bad_version, 505, "bad_version", "Only HTTP/1.x is supported."},
    {Rejection::header_too_large, 431, "header_too_large", "The head is larger than limits.header."},
    {Rejection::too_many_fields, 431, "too_many_fields",
     "The head has more fields than limits.header_fields."},
    {Rejection::bad_field_name, 400, "bad_field_name",
     "A header field name is empty, is not a valid token, is not directly followed by a colon, or is not "
     "allowed in HTTP/2."},
    {Rejection::bad_field_value, 400, "bad_field_value",
     "A header field value contains a control character or is malformed."},
    {Rejection::obs_fold, 400, "obs_fold",
     "A header field continues on a second line (obs-fold), which HTTP/1.1 forbids."},
    {Rejection::lookalike_framing_field, 400, "lookalike_framing_field",
     "A header field name differs from Content-Length or Transfer-Encoding only by an underscore."},
    {Rejection::missing_host, 400, "missing_host", "The Host field is missing."},
    {Rejection::repeated_host, 400, "repeated_host", "There is more than one Host field."},
    {Rejection::bad_host, 400, "bad_host",
     "The Host field is not a valid host with an optional port, or differs from :authority."},
    {Rejection::bad_content_length, 400, "bad_content_length",
     "Content-Length must be one decimal number of at most 19 digits."},
    {Rejection::conflicting_content_length, 400, "conflicting_content_length",
     "The request has two Content-Length fields, or its body does not have the length of its "
     "Content-Length."},
    {Rejection::bad_transfer_encoding, 400, "bad_transfer_encoding",
     "Transfer-Encoding must be `chunked`, once."},
    {Rejection::unsupported_transfer_encoding, 501, "unsupported_transfer_encoding",
     "Only the transfer coding chunked is supported."},
    {Rejection::length_and_chunked, 400, "length_and_chunked",
     "The message has both Content-Length and Transfer-Encoding, so the end of its body is ambiguous."},
    {Rejection::length_required, 411, "length_required",
     "The upstream speaks HTTP/1.0, which requires a Content-Length; the body is too large to be held and "
     "counted."},
    {Rejection::content_too_large, 413, "content_too_large",
     "The request body is larger than the route's request_body or limits.request_body allows."},
    {Rejection::chunked_in_http_1_0, 400, "chunked_in_http_1_0",
     "An HTTP/1.0 message must not have Transfer-Encoding."},
    {Rejection::bad_chunk, 400, "bad_chunk",
     "The chunked body is malformed, or its chunk headers are much larger than its content."},
    {Rejection::bad_trailer, 400, "bad_trailer", "The trailer section is malformed or larger than 8 KiB."},
    {Rejection::bad_scheme, 400, "bad_scheme", "The request target must be an http or https URI."},
    {Rejection::bad_authority, 400, "bad_authority",
     "The authority of the request target is not a valid host with a port."},
    {Rejection::userinfo_in_authority, 400, "userinfo_in_authority",
     "The request target contains user information (user@host), which is not allowed."},
    {Rejection::connect_with_body, 400, "connect_with_body", "A CONNECT request must not have a body."},
    {Rejection::trace_with_body, 400, "trace_with_body", "A TRACE request must not have a body."},
    {Rejection::connect_port_denied, 403, "connect_port_denied",
     "CONNECT to this port is not allowed through this listener: add the port to security.connect_ports.",
     "http_request_denied"},
    {Rejection::not_a_proxy_request, 400, "not_a_proxy_request",
     "This is a forward proxy, but the request target is not a full URL (http://host/path): configure this "
     "address as the client's proxy, or use a listener of mode gateway."},
    {Rejection::misdirected_request, 421, "misdirected_request",
     "The request is for a host that this connection does not serve. A gateway serves its own address and "
     "its upstream's host: call it by one of them, set `host: client` on the listener (HTTP/2 only), or "
     "use a listener of mode forward. An intercepted connection serves only the host of its certificate."},
    {Rejection::connect_to_gateway, 501, "connect_to_gateway",
     "This listener is a gateway to one upstream and does not support CONNECT: use a listener of mode "
     "forward as the client's proxy."},
    {Rejection::connect_protocol, 501, "connect_protocol",
     "Extended CONNECT (RFC 8441) is supported only with the protocol websocket."},
    {Rejection::tls_to_plain_listener, 400, "tls_to_plain_listener",
     "The client started TLS, but this listener expects plain HTTP: write http:// in the proxy's URL, not "
     "https://."},
    {Rejection::socks_version, 400, "socks_version",
     "This listener expects SOCKS5, but the client sent something else: write socks5h:// in the proxy's URL, "
     "or use a listener of mode forward."},
    {Rejection::socks_malformed, 400, "socks_malformed",
     "The SOCKS5 greeting or request is malformed (length, host name or port)."},
    {Rejection::socks_method, 400, "socks_method",
     "The client offers only SOCKS5 methods with authentication; this listener accepts only `no "
     "authentication`."},
    {Rejection::socks_command, 400, "socks_command",
     "Only the SOCKS5 command CONNECT is supported, not BIND or UDP ASSOCIATE."},
    {Rejection::socks_address, 400, "socks_address", "The SOCKS5 request has an unknown address type."},
    {Rejection::bad_expect, 417, "bad_expect", "The only supported expectation is 100-continue."},
    {Rejection::bad_max_forwards, 400, "bad_max_forwards", "Max-Forwards must be one decimal number."},
    {Rejection::header_timeout, 408, "header_timeout",
     "The request head was not complete within timers.header."},
    {Rejection::loop, 508, "loop", "Proxy loop detected: the request has already passed through this proxy.",
     "proxy_loop_detected"},
    {Rejection::bad_status_line, 502, "bad_status_line", "The upstream's status line is malformed.",
     "http_protocol_error"},
    {Rejection::bad_status, 502, "bad_status", "The upstream's status is not between 100 and 999.",
     "http_protocol_error"},
}};

static_assert(policy::follows_enumerators(rows, [](const Row& row) { return row.cause; }));

constexpr const Row& row(Rejection cause) { return rows[static_cast<std::size_t>(cause)]; }

}  // namespace

std::string_view word(Rejection cause) { return row(cause).word; }

std::array<std::string_view, rejection_count> all_words() {
  std::array<std::string_view, rejection_count> words{};
  for (std::size_t i = 0; i < rejection_count; ++i) words[i] = rows[i].word;
  return words;
}

int status_of(Rejection cause) { return row(cause).status; }
std::string_view sentence(Rejection cause) { return row(cause).sentence; }
std::string_view proxy_status_error(Rejection cause) { return row(cause).error; }

}  // namespace reprise::http
