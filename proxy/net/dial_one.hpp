// One address dialled: a socket that stands, or why it does not.
#pragma once

#include <memory>
#include <variant>

#include "proxy/net/loop.hpp"
#include "proxy/net/stop.hpp"
#include "proxy/policy/outcome.hpp"

namespace reprise::net {

using Dialled = std::variant<std::unique_ptr<Stream>, policy::Failed>;

/// Until `due` at most. Where no descriptor is left, idle connections make room. `stop` can stop it:
/// cancelled. The doors are the caller's business.
Task<Dialled> dial_one(Loop&, const tcp::endpoint&, Instant due, Stop&);

}  // namespace reprise::net
