// Dials one address: returns a connected socket or the failure.
#pragma once

#include <memory>
#include <variant>

#include "proxy/net/dial/dialer.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::net {

using Dialled = std::variant<std::unique_ptr<Stream>, policy::Failed>;

/// Dials until `due`. If no descriptor is left, closes idle connections of the pool to make room. A cancel
/// through AttemptCancel ends the dial with the cause `cancelled`. Precondition: the caller has judged the
/// address.
Task<Dialled> dial_one(Dialer&, const tcp::endpoint&, Instant due, AttemptCancel&);

}  // namespace reprise::net
