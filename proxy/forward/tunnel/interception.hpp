// Decides whether a client's TLS is terminated here: only for a host that the client names and that is listed
// in `intercept.hosts`.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/forward/tunnel/client_hello.hpp"
#include "proxy/policy/decision/route.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// Returns true if a pattern of the list matches the host, ignoring case. An IP address never matches.
bool lists_host(const std::vector<policy::HostPattern>& listed, std::string_view host);

/// Returns `intercepted` only if the host is listed, the server name is present and equal to `authority` (row
/// F11), and the client would speak a version of HTTP that is read here. All other streams are tunnelled
/// unread. `authority`: the host that the client asked for by CONNECT or SOCKS; empty for a redirected
/// connection, for which only the server name counts. `reads_http2`: HTTP/2 is read.
telemetry::Interception judge_interception(std::string_view authority, const ClientHello& hello,
                                           const std::vector<policy::HostPattern>& listed, bool reads_http2);

}  // namespace reprise::forward
