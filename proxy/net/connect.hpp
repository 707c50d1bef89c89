// A fresh connection to a request's upstream, ready to carry it.
#pragma once

#include <optional>

#include "proxy/net/answer.hpp"
#include "proxy/net/loop.hpp"
#include "proxy/net/request.hpp"
#include "proxy/net/stop.hpp"

namespace reprise::net {

/// Leaves it in `answer.connection`, or says why there is none; nothing of the request was sent then. Each
/// address has `connect_timeout`, for the dial and, where the upstream is one of TLS, the handshake; all of
/// them share twice that (ConnectTime), and none of it passes `deadline`. `stop` can stop it: cancelled.
Task<std::optional<policy::Failed>> connect(Loop&, Request&, Stop&, std::optional<Instant> deadline, Answer&);

/// How long bytes of the request may stay unacknowledged: a minute, and half of the route's deadline at most,
/// so that a retry still fits; for a body that one receive window may not hold `idle_timeout`, because the
/// kernel counts a shut window too, and an upstream may pause (product.md, Silent death).
Duration user_timeout_of(const Request&);

}  // namespace reprise::net
