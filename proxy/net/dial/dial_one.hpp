// One address dialled: a socket that stands, or why it does not.
#pragma once

#include <memory>
#include <variant>

#include "proxy/net/dial/dialer.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::net {

using Dialled = std::variant<std::unique_ptr<Stream>, policy::Failed>;

/// Until `due` at most. Where no descriptor is left, idle connections make room. `stop` can stop it:
/// cancelled. Which addresses may be is the caller's business.
Task<Dialled> dial_one(Dialer&, const tcp::endpoint&, Instant due, AttemptCancel&);

}  // namespace reprise::net
