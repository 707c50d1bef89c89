// Interim responses (1xx) on their way to the client: passed
// on as they come, 100 at most once, never enough to flood.
#pragma once

#include "proxy/forward/request/outgoing.hpp"

namespace reprise::forward {

/// Sends it to the client unless the client speaks 1.0, or it is a 100 and the client has had one. A 100 that
/// the client did not ask for is passed on too (RFC 9110 15.2). False if the client is gone.
Task<bool> pass_interim(net::Stream& client, Outgoing&, const http::ResponseHead&,
                        std::string_view pseudonym);

/// Sends a 100 of our own. False if the client is gone.
Task<bool> send_continue(net::Stream& client, Outgoing&);

}  // namespace reprise::forward
