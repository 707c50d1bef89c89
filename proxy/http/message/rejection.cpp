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
     "The request line is not `method target HTTP/1.x` ended by CRLF."},
    {Rejection::bad_method, 400, "bad_method",
     "The method is not a token, or not one that this listener serves."},
    {Rejection::method_too_long, 501, "method_too_long", "The method has more than 32 characters."},
    {Rejection::bad_target, 400, "bad_target",
     "The request target is empty, of a form that its method does not have, or holds a blank, a control "
     "character or a fragment."},
    {Rejection::target_too_long, 414, "target_too_long", "The request target is longer than limits.target."},
    {Rejection::bad_version, 505, "bad_version", "Of HTTP, only major version 1 is spoken here."},
    {Rejection::header_too_large, 431, "header_too_large", "The head is larger than limits.header."},
    {Rejection::too_many_fields, 431, "too_many_fields",
     "The head has more fields than limits.header_fields."},
    {Rejection::bad_field_name, 400, "bad_field_name",
     "A field name is empty, is not a token, or is not followed by its colon at once."},
    {Rejection::bad_field_value, 400, "bad_field_value",
     "A field value holds a control character, or breaks the grammar of its field."},
    {Rejection::obs_fold, 400, "obs_fold", "A field is folded over two lines."},
    {Rejection::lookalike_framing_field, 400, "lookalike_framing_field",
     "A field name differs from a framing field only by an underscore."},
    {Rejection::missing_host, 400, "missing_host", "The Host field is missing."},
    {Rejection::repeated_host, 400, "repeated_host", "There is more than one Host field."},
    {Rejection::bad_host, 400, "bad_host", "The Host field is not a host with an optional port."},
    {Rejection::bad_content_length, 400, "bad_content_length",
     "Content-Length is not one decimal number of at most 19 digits."},
    {Rejection::conflicting_content_length, 400, "conflicting_content_length",
     "Two Content-Length fields differ."},
    {Rejection::bad_transfer_encoding, 400, "bad_transfer_encoding",
     "Transfer-Encoding is not exactly one `chunked`."},
    {Rejection::unsupported_transfer_encoding, 501, "unsupported_transfer_encoding",
     "No transfer coding but chunked is supported."},
    {Rejection::length_and_chunked, 400, "length_and_chunked",
     "Content-Length and Transfer-Encoding are both there, so the end of the body is ambiguous."},
    {Rejection::length_required, 411, "length_required",
     "The upstream speaks HTTP/1.0, which needs a Content-Length, and the body could not be held to be "
     "counted."},
    {Rejection::content_too_large, 413, "content_too_large",
     "The body is longer than request_body of its route, or limits.request_body, allows."},
    {Rejection::chunked_in_http_1_0, 400, "chunked_in_http_1_0", "HTTP/1.0 has no Transfer-Encoding."},
    {Rejection::bad_chunk, 400, "bad_chunk",
     "The chunked body is malformed, or its framing outweighs its content."},
    {Rejection::bad_trailer, 400, "bad_trailer", "The trailer section is malformed or larger than 8 KiB."},
    {Rejection::bad_scheme, 400, "bad_scheme", "The target is not an http or https URI."},
    {Rejection::bad_authority, 400, "bad_authority",
     "The authority of the target is not a host with a port."},
    {Rejection::userinfo_in_authority, 400, "userinfo_in_authority", "The target carries user information."},
    {Rejection::connect_with_body, 400, "connect_with_body", "CONNECT has no body."},
    {Rejection::trace_with_body, 400, "trace_with_body", "TRACE has no body."},
    {Rejection::connect_port_denied, 403, "connect_port_denied",
     "CONNECT may not go to that port through this listener: add it to security.connect_ports.",
     "http_request_denied"},
    {Rejection::not_a_proxy_request, 400, "not_a_proxy_request",
     "This is a forward proxy, and the request is not one to a proxy: set it as the client's proxy, or make "
     "it a listener of mode gateway."},
    {Rejection::misdirected_request, 421, "misdirected_request",
     "This is a gateway to one upstream, and the request is for another host: use a listener of mode "
     "forward as the client's proxy."},
    {Rejection::connect_to_gateway, 501, "connect_to_gateway",
     "This is a gateway to one upstream, and it opens no tunnels: use a listener of mode forward as the "
     "client's "
     "proxy."},
    {Rejection::tls_to_plain_listener, 400, "tls_to_plain_listener",
     "TLS was spoken to a listener that takes plain HTTP: write http:// in the proxy's URL, not https://."},
    {Rejection::socks_version, 400, "socks_version",
     "This is a SOCKS5 listener, and what came is not SOCKS5: write socks5h:// in the proxy's URL, or use a "
     "listener of mode forward."},
    {Rejection::socks_malformed, 400, "socks_malformed",
     "A greeting or request of SOCKS5 has a length, a name or a port that it cannot have."},
    {Rejection::socks_method, 400, "socks_method",
     "The client offers no method but authentication: this SOCKS5 listener asks for none."},
    {Rejection::socks_command, 400, "socks_command",
     "The only command of SOCKS5 that is understood is CONNECT: neither BIND nor UDP ASSOCIATE."},
    {Rejection::socks_address, 400, "socks_address", "The address type of a SOCKS5 request is unknown."},
    {Rejection::bad_expect, 417, "bad_expect", "The only expectation that is understood is 100-continue."},
    {Rejection::bad_max_forwards, 400, "bad_max_forwards", "Max-Forwards is not one decimal number."},
    {Rejection::header_timeout, 408, "header_timeout", "The head was not complete within timers.header."},
    {Rejection::loop, 508, "loop", "The request has been here before: it loops.", "proxy_loop_detected"},
    {Rejection::bad_status_line, 502, "bad_status_line", "The status line of the upstream is malformed.",
     "http_protocol_error"},
    {Rejection::bad_status, 502, "bad_status", "The status of the upstream is not between 100 and 999.",
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
