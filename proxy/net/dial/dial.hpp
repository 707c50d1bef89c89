// Makes a connected socket from a host name: resolves it, judges every address, dials the allowed ones.
#pragma once

#include <string>

#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"

namespace reprise::net {

/// Dials the allowed addresses, at most 16 (row I13). The next dial starts 250 ms after the previous dial
/// began, or at once when a dial fails. The first established connection wins; the others are closed. All
/// these dials are one attempt (row D12).
///
/// The lookup and each address may take `connect_timeout`. All addresses share twice that time, and no step
/// goes past the deadline. Each dial uses exactly the address that was judged.
///
/// Failures: address_denied if every address is denied; address_is_self if one address is a listener of this
/// proxy and no other address connects; else the cause of the last dial. After a failed dial the resolver
/// drops the name, so that the next dial looks it up again (row L2). A cancel through AttemptCancel ends the
/// call with the cause `cancelled`.
Task<Dialled> dial(Dialer&, const std::string& host, std::uint16_t port, ConnectTime&, AttemptCancel&);

}  // namespace reprise::net
