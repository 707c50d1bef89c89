// Which connection a request goes out on: one at rest, where one will do, or a fresh one.
#pragma once

#include <memory>
#include <optional>

#include "proxy/forward/attempt/one_attempt.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::forward {

/// What connections may carry the request, judged once its head is there and its facts and its policy are
/// known. `limits` are those of its body. `before` is whose connections carried the last request of the same
/// client connection that was not repeatable; null: there was none (row F10).
net::Freshness freshness_of(const Outgoing&, const HoldLimits& limits, const net::Upstream* before);

/// Of an attempt that ended before anything was sent; `address`: what was dialled for it.
policy::AttemptReport report_of_unsent(const Outgoing&, unsigned number,
                                       const policy::UpstreamAddress& address);
/// What lies unread on a fresh connection; a pooled one has been looked at when it was lent.
net::Unread unread_of(net::UpstreamConnection&);

/// How long bytes of the request may stay unacknowledged. Where the request may be repeated and has a
/// deadline: at most a minute and half of the deadline, so that a retry still fits. For a body that one
/// receive window may not hold: `idle_timeout`, because the kernel counts a shut window too, and an upstream
/// may pause. Otherwise the system's own limit.
Duration user_timeout_of(const Outgoing&);

/// The pinned one, or one from the pool; null: a fresh one has to be dialled.
/// Never that of the attempt before.
std::unique_ptr<net::UpstreamConnection> lease(Worker&, Outgoing&, const policy::Start&);

/// A fresh one (connect) by `deadline`, in `response.connection`, or why there is none; nothing of the
/// request was sent then. `address`: what stands, or was dialled last.
Task<std::optional<policy::Failed>> connect_for(OneAttempt&, std::optional<Instant> deadline,
                                                policy::UpstreamAddress& address);

}  // namespace reprise::forward
