// From a host name to a connected socket: resolve, check every address at the door, try each in order.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "proxy/net/loop.hpp"
#include "proxy/net/stop.hpp"
#include "proxy/policy/outcome.hpp"

namespace reprise::net {

using Dialled = std::variant<std::unique_ptr<Stream>, policy::Failed>;

/// Tries every allowed address, each for at most `limit`; resolving has the same limit. The address that was
/// checked is the one that is dialled. Fails as address_denied where every address is denied, as
/// address_is_self where one is ours and no other stands; else with the last address's failure. `stop` can
/// stop it: cancelled.
Task<Dialled> dial(Loop&, const std::string& host, std::uint16_t port, Duration limit, Stop&);

}  // namespace reprise::net
