// Whether a client's TLS is ended here: only for a listed host, and only where the client asks for that very
// host and would speak HTTP/1.1.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/forward/tunnel/client_hello.hpp"
#include "proxy/policy/decision/route.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// True if a pattern of the list matches the host, in whatever case. An address is matched by none.
bool lists_host(const std::vector<policy::HostPattern>& listed, std::string_view host);

/// `authority`: the host that the client asked for, by CONNECT or SOCKS; empty where nobody has named one,
/// behind a redirected connection: then its SNI is asked alone. Never `intercepted` without a server name
/// that is the authority (row F11). What is not intercepted is tunnelled blind.
telemetry::Interception judge_interception(std::string_view authority, const ClientHello& hello,
                                           const std::vector<policy::HostPattern>& listed);

}  // namespace reprise::forward
