// The closed list of causes for which a message is rejected, each with its status, metric label and sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::http {

/// Causes of rejection. Each is one value of the label in `reprise_rejected_requests_total{cause}`.
/// docs/requirements/robustness.md says which message has which cause, mainly in its section on request
/// framing.
enum class Rejection : std::uint8_t {
  bad_request_line,
  bad_method,
  method_too_long,
  bad_target,
  target_too_long,
  bad_version,
  header_too_large,
  too_many_fields,
  bad_field_name,
  bad_field_value,
  obs_fold,
  lookalike_framing_field,  // for instance Content_Length
  missing_host,
  repeated_host,
  bad_host,
  bad_content_length,
  conflicting_content_length,
  bad_transfer_encoding,
  unsupported_transfer_encoding,
  length_and_chunked,
  length_required,  // 411: HTTP/1.0 upstream needs a length, but the chunked body is no longer held (row A10)
  content_too_large,  // status 413
  chunked_in_http_1_0,
  bad_chunk,
  bad_trailer,
  bad_scheme,
  bad_authority,
  userinfo_in_authority,
  connect_with_body,
  trace_with_body,
  connect_port_denied,    // status 403
  not_a_proxy_request,    // origin-form on a forward listener
  misdirected_request,    // 421: absolute-form for another host on a gateway listener
  connect_to_gateway,     // 501: CONNECT on a gateway listener
  connect_protocol,       // 501: extended CONNECT with a protocol other than websocket (RFC 8441)
  tls_to_plain_listener,  // a TLS record instead of a request line
  socks_version,          // on a SOCKS listener: another protocol, or SOCKS4
  socks_malformed,        // SOCKS5 with impossible lengths or names
  socks_method,           // the client offers only methods with authentication
  socks_command,          // BIND or UDP ASSOCIATE
  socks_address,          // unknown address type
  bad_expect,             // status 417
  bad_max_forwards,
  header_timeout,   // status 408
  loop,             // status 508
  bad_status_line,  // from here on, all causes apply only to responses
  bad_status,
};

inline constexpr std::size_t rejection_count = policy::count_of<Rejection>;

/// Returns the metric label: the enumerator's own name.
std::string_view word(Rejection);
/// Returns all words in declaration order, for registering the metric.
std::array<std::string_view, rejection_count> all_words();
/// Returns the status: 400, 403, 408, 411, 413, 414, 417, 421, 431, 501, 505 or 508; 502 for the causes of
/// responses.
int status_of(Rejection);
/// Returns a fixed sentence for the body. It contains no part of the message.
std::string_view sentence(Rejection);
/// Returns the Proxy-Status error type (RFC 9209 2.3).
std::string_view proxy_status_error(Rejection);

}  // namespace reprise::http
