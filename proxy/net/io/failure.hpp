// The only translator from errors of the network to the causes that the policy knows.
#pragma once

#include <optional>

#include "proxy/net/io/body_reader.hpp"
#include "proxy/net/io/link.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::net {

/// What a socket's or a TLS error means. `eof` is `closed`, and so is a TLS connection's
/// end without close_notify: no head can be complete by it; whatever has no cause of its
/// own is `reset` on a connection that stood.
policy::Cause cause_of(const ErrorCode&);
/// The same for a connection that never stood: unknown errors are `unreachable`.
policy::Cause cause_of_dial(const ErrorCode&);
/// The failure of an attempt whose connection ended, if the other side of TLS has said why: `stage` where the
/// same need not come again, else of stage `tls` (row N11).
std::optional<policy::Failed> failure_of(const TlsRefusal&, policy::Stage stage);
/// Why a body ended that neither goes on nor is complete.
policy::Cause cause_of(BodyStep);

}  // namespace reprise::net
