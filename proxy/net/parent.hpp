// Dialling through a parent proxy: a connection to it, and for what must not be read by it a tunnel.
#pragma once

#include "proxy/net/answer.hpp"
#include "proxy/net/connect_time.hpp"
#include "proxy/net/dial_one.hpp"
#include "proxy/net/request.hpp"

namespace reprise::net {

/// An upstream that is written as an address, in whatever spelling (row H2), judged at the doors: nobody here
/// resolves the names that a parent proxy gets.
Door judge_unresolved(const Doors&, const std::string& host, std::uint16_t port);

/// A stream that carries the request: to the parent proxy (is_for_parent), or through its CONNECT, whose
/// answer has the time of one step. What came behind that answer is in `answer.buffer`. Fails as
/// parent_unreachable where the parent's name or no address of it stands, as parent_timeout where one of
/// these or its answer takes too long, and as parent_refused where it opens no tunnel; as address_denied and
/// address_is_self for the upstream's address and for the parent's. There must be a parent. `stop` can stop
/// it: cancelled.
Task<Dialled> dial_through_parent(Loop&, const Request&, ConnectTime&, Stop&, Answer& answer);

}  // namespace reprise::net
