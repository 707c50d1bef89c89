// Builds the proxy's own responses: short plain text with the failed stage, the attempt and the reason.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/decision/ledger.hpp"

namespace reprise::http {

/// Advice if the certificate of an upstream does not verify.
inline constexpr std::string_view certificate_advice =
    "If your own certificate authority signed the certificate, set tls.ca_file of the route to that "
    "authority's file.";
/// Advice if the certificate of the parent proxy does not verify.
inline constexpr std::string_view parent_certificate_advice =
    "If your own certificate authority signed the certificate, set parent.ca_file to that authority's file.";
/// Advice if an upstream rejects this proxy in the TLS handshake.
inline constexpr std::string_view client_certificate_advice =
    "If the upstream requires a client certificate, set tls.certificate and tls.key of the route.";

struct Reply {
  int status = 0;
  std::string reason;  ///< value of `Reprise-Reason`; if empty, the field is not sent
  /// Member to append to Proxy-Status (RFC 9209), e.g. `reprise-x1; error=connection_refused`.
  std::string proxy_status;
  std::string body;  ///< text/plain, ends with a newline
};

/// Returns the proxy's response to a rejected request.
Reply rejection_reply(Rejection, std::string_view pseudonym);
/// Returns the proxy's response if no upstream response can be delivered (action Fail). The last failure and
/// the reason determine the status: 502, 503, 504, 403 or 508. With `gateway_timeout` the status is always
/// 504. The body names the stage, the cause, the attempt count and the reason, but no header value and no
/// address.
Reply failure_reply(const policy::Ledger&, bool gateway_timeout, std::string_view pseudonym);

/// Appends the head: status line, Date, Content-Type, nosniff, Content-Length, Proxy-Status, `extra_fields`,
/// and `Connection: close` if `close` is true.
void write_reply_head(const Reply&, std::string_view date, std::string_view extra_fields, bool close,
                      std::string& out);
/// Appends the head, and the body unless `head_only` is true.
void write_reply(const Reply&, std::string_view date, std::string_view extra_fields, bool close,
                 bool head_only, std::string& out);

/// Returns the status of the proxy's own response to a failure with that cause.
int status_of(policy::Cause);
/// Returns the Proxy-Status error type (RFC 9209 2.3) of a failed attempt.
std::string_view proxy_status_error(policy::Cause);

}  // namespace reprise::http
