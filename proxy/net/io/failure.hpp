// Translates network errors to the policy's causes; no other code does this.
#pragma once

#include <optional>

#include "proxy/http/message/rejection.hpp"
#include "proxy/net/io/body_step.hpp"
#include "proxy/net/io/link.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::net {

/// Returns the cause of an error on an established connection. `eof` becomes `closed`. The end of TLS without
/// close_notify becomes `closed` too, because such an end never completes a head. An error that has no cause
/// of its own becomes `reset`.
policy::Cause cause_of(const ErrorCode&);
/// Returns the cause of an error before a connection was established. An unknown error becomes `unreachable`.
policy::Cause cause_of_dial(const ErrorCode&);
/// Returns the failure of an attempt if the other side ended the connection with a fatal TLS alert; else no
/// value. The stage is `tls` if the alert is permanent, else `stage` (row N11).
std::optional<policy::Failed> failure_of(const TlsRefusal&, policy::Stage stage);
/// Returns the cause of a response head that was rejected.
policy::Cause cause_of(http::Rejection);
/// Returns the cause of a body that ended before it was complete.
policy::Cause cause_of(BodyStep);

}  // namespace reprise::net
