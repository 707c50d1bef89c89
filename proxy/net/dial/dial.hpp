// From a host name to a connected socket: resolve, judge every address, dial those that are allowed.
#pragma once

#include <string>

#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"

namespace reprise::net {

/// Dials the allowed addresses, at most 16 (row I13): the next one 250 ms after the last, or at once when one
/// fails; the first connection that stands wins, the others are closed. All of it is one attempt (row D12).
/// Resolving has the time of one step, and so has each address; all of them share twice that, and none of it
/// passes the deadline. The address that was checked is the one that is dialled. Fails as address_denied
/// where every address is denied, as address_is_self where one is ours and no other stands; else with what
/// came of the last one. What was dialled in vain is not remembered: the next dial of that name asks the
/// resolver (row L2). `stop` can stop it: cancelled.
Task<Dialled> dial(Dialer&, const std::string& host, std::uint16_t port, ConnectTime&, AttemptCancel&);

}  // namespace reprise::net
