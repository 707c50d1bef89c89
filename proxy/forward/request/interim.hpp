// Passes interim responses (1xx) to the client.
#pragma once

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/net/ends/client_end.hpp"

namespace reprise::forward {

/// Passes the interim response to the client. Discards it if the client speaks HTTP/1.0, or if it is a second
/// 100. A 100 that the client did not ask for is passed too (RFC 9110 15.2). Returns false if the client is
/// gone.
Task<bool> pass_interim(net::ClientEnd& client, Outgoing&, const http::ResponseHead&,
                        std::string_view pseudonym);

/// Sends a 100 that this proxy generates. Returns false if the client is gone.
Task<bool> send_continue(net::ClientEnd& client, Outgoing&);

}  // namespace reprise::forward
