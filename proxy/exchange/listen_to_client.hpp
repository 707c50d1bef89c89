// The one place that finds out what a byte stream is: behind CONNECT, through SOCKS, or redirected here.
#pragma once

#include "proxy/message/request.hpp"
#include "proxy/worker/worker.hpp"

namespace reprise::net {

/// True where the client is heard before anything is dialled: the stream was redirected here, so that only it
/// can say for whom it is, or the host that was asked for is one whose TLS is ended here.
bool listens_first(const Request&);

/// Into `request.words`, and of TLS `request.server_name` and `request.interception`; what was read is in
/// `request.early`. `upstream` is null where nothing was dialled yet: a client that may yet send a
/// ClientHello and is silent for as long as first words are waited for leaves `words` at `more`, to be asked
/// again once an upstream stands, for then it may be that one's turn. Such a client has `timers.handshake`.
/// So has half a word, or half a ClientHello, where it decides on interception or the route; elsewhere it is
/// forwarded after 200 ms (row G7).
Task<void> listen_to_client(Worker&, Request&, Stream& client, Stream* upstream);

/// True where the client did not finish its ClientHello: there is nothing that could be done for it.
bool is_over(const Request&);

/// A line on what became of a client's TLS: what, for whom, where it came in.
void log_interception(Worker&, const Request&, observe::Interception, std::string_view words = {});

}  // namespace reprise::net
