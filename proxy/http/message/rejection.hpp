// Why a message is refused: the closed list of causes,
// each with its status, its metric label and its sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::http {

/// One label value of `reprise_rejected_requests_total{cause}` each. Which message has which of them:
/// docs/requirements/robustness.md, above all its section on the framing of requests.
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
  lookalike_framing_field,  // Content_Length and kin
  missing_host,
  repeated_host,
  bad_host,
  bad_content_length,
  conflicting_content_length,
  bad_transfer_encoding,
  unsupported_transfer_encoding,
  length_and_chunked,
  length_required,    // 411: chunked, to an upstream of HTTP/1.0, and what was held of it is lost (row A10)
  content_too_large,  // 413
  chunked_in_http_1_0,
  bad_chunk,
  bad_trailer,
  bad_scheme,
  bad_authority,
  userinfo_in_authority,
  connect_with_body,
  trace_with_body,
  connect_port_denied,    // 403
  not_a_proxy_request,    // origin-form on a forward listener
  misdirected_request,    // 421: another host's absolute-form on a gateway listener
  connect_to_gateway,     // 501: CONNECT on a gateway listener
  tls_to_plain_listener,  // a TLS record where a request line has to be
  socks_version,          // on a SOCKS listener: another protocol, or SOCKS4
  socks_malformed,        // the same, with lengths or names that cannot be
  socks_method,           // no method but authentication is offered
  socks_command,          // BIND or UDP ASSOCIATE
  socks_address,          // an address type that there is not
  bad_expect,             // 417
  bad_max_forwards,
  header_timeout,   // 408
  loop,             // 508
  bad_status_line,  // responses only, from here on
  bad_status,
};

inline constexpr std::size_t rejection_count = policy::count_of<Rejection>;

/// The metric label: the enumerator's own name.
std::string_view word(Rejection);
/// Every word, in declaration order: for whoever registers the metric.
std::array<std::string_view, rejection_count> all_words();
/// 400, 403, 408, 411, 414, 417, 421, 431, 501, 505, 508; 502 for the causes of responses.
int status_of(Rejection);
/// One fixed sentence for the body; holds nothing that came from the message.
std::string_view sentence(Rejection);
/// Its Proxy-Status error type (RFC 9209 2.3).
std::string_view proxy_status_error(Rejection);

}  // namespace reprise::http
