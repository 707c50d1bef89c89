// Chooses the connection that carries a request: an idle one if allowed, or a fresh one.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "proxy/forward/attempt/one_attempt.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/dial/connect.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::forward {

/// Returns which idle connections may carry the request. Precondition: the head, the facts and the policy of
/// the request are known. `limits`: how much of the request body may be held. `before`: the upstream or
/// parent that received the last non-repeatable request of this client connection; null if there was none
/// (row F10).
net::Freshness freshness_of(const Outgoing&, const HoldLimits& limits, const net::Upstream* before);

/// Returns the report of an attempt that ended before anything was sent. `address`: the address that was
/// dialled.
policy::AttemptReport report_of_unsent(const Outgoing&, unsigned number,
                                       const policy::UpstreamAddress& address);
/// Peeks at the unread bytes of a fresh connection. Returns `nothing` for a pooled connection, because
/// `lease` has already checked it.
net::Unread unread_of(net::Lease&);

/// Returns how long bytes of the request may stay unacknowledged. If the body is chunked or longer than one
/// receive window, the limit is `idle_timeout`: an upstream may pause, and the kernel also counts the time
/// for which the window is closed. For other repeatable requests with a deadline, the limit is half the
/// deadline, at most one minute, so that a retry still fits. In all other cases, the system's own limit
/// applies.
Duration user_timeout_of(const Outgoing&);

/// Returns when a connection that is made now reaches its maximum age: after 80% to 120% of `pool.max_age`.
/// Nothing if there is no limit.
std::optional<Instant> end_of_age(const net::Snapshot&, policy::Dice&);
/// Returns the addresses whose connections should not carry the next attempt. A retry prefers an address that
/// the request has not tried (row N1). A resumed download prefers the address where the download began,
/// because other replicas may use other ETags for the same content.
std::span<const policy::UpstreamAddress> addresses_to_avoid(const Outgoing&);

/// Returns the pinned connection or a pooled one, but never the connection of the previous attempt. Null if a
/// fresh connection has to be dialled.
std::unique_ptr<net::UpstreamConnection> lease(Worker&, Outgoing&, const policy::Start&);

/// What a dial offers, and what it finds out besides its result.
struct DialRequest {
  const net::ConnectTime& time;
  net::Protocol protocol;
  net::Buffer& early;           ///< gets the bytes that arrived before any request was sent
  bool selected_http2 = false;  ///< result: over TLS, the upstream has chosen HTTP/2
};

/// Dials the upstream of the request, through its parent if it has one, and records the address. `address`
/// receives the connected address, or else the last address that was dialled.
Task<net::Dialled> dial_for(OneAttempt&, DialRequest&, policy::UpstreamAddress& address);
/// Stores a fresh connection to that address in `response.connection`.
void hold_connection(OneAttempt&, std::unique_ptr<net::Stream>, const policy::UpstreamAddress&);

/// Dials a fresh connection and stores it in `response.connection`. The time limit is `deadline`. If no
/// connection can be established, returns the failure; in that case no byte of the request was sent.
/// `address` receives the connected address, or else the last address that was dialled.
Task<std::optional<policy::Failed>> connect_for(OneAttempt&, std::optional<Instant> deadline,
                                                policy::UpstreamAddress& address);

}  // namespace reprise::forward
