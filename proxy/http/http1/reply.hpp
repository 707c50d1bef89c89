// Our own responses: short, plain, and precise about who failed, at which attempt, and why it stopped.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/decision/ledger.hpp"

namespace reprise::http {

/// What to do where a certificate does not verify.
inline constexpr std::string_view certificate_advice =
    "If a certification authority of your own signed it, name its file in tls.ca_file of the route.";
/// The same for the certificate of the parent proxy.
inline constexpr std::string_view parent_certificate_advice =
    "If a certification authority of your own signed it, name its file in parent.ca_file.";
/// What to do where the upstream refuses this side of TLS.
inline constexpr std::string_view client_certificate_advice =
    "tls.certificate and tls.key of the route name the client certificate.";

struct Reply {
  int status = 0;
  std::string reason;        ///< the `Reprise-Reason` word, empty for none
  std::string proxy_status;  ///< the member to append to Proxy-Status (RFC 9209),
                             ///< e.g. `reprise-x1; error=connection_refused`
  std::string body;          ///< text/plain, ends with a newline
};

/// The response to a refused request.
Reply rejection_reply(Rejection, std::string_view pseudonym);
/// The response where no upstream response can be given (Fail): 502, 503, 504, 403, 508 by the last failure
/// and reason. `gateway_timeout` makes it 504. Names the stage, the cause, the attempt count and the reason,
/// never a header value or an address.
Reply failure_reply(const policy::Ledger&, bool gateway_timeout, std::string_view pseudonym);

/// Appends the whole message: status line, Date, Content-Type, nosniff, Content-Length, Proxy-Status,
/// `extra_fields`, close if asked, body (left out for `head_only`).
void write_reply(const Reply&, std::string_view date, std::string_view extra_fields, bool close,
                 bool head_only, std::string& out);

/// The status of our own response to a failure with that cause.
int status_of(policy::Cause);
/// The Proxy-Status error type (RFC 9209 2.3) of a failed attempt.
std::string_view proxy_status_error(policy::Cause);

}  // namespace reprise::http
