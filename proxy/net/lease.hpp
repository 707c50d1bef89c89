// Which connection at rest a request may go out on, if any.
#pragma once

#include <memory>

#include "proxy/net/loop.hpp"
#include "proxy/net/request.hpp"
#include "proxy/policy/exchange.hpp"

namespace reprise::net {

/// What connections may carry the request, judged once its head is there and its facts and its policy are
/// known. `limits` are those of its body. `before` is whose connections carried the last request of the same
/// client connection that was not repeatable; null: there was none (row F10).
Freshness freshness_of(const Request&, const HoldLimits& limits, const Upstream* before);

/// Attempt `number` goes out on that connection, which the next one must not. `copy`: beside another (hedge).
void note_ride(Request&, unsigned number, bool copy, const UpstreamConnection&);
/// Of an attempt that ended before anything was sent.
policy::AttemptReport report_of_unsent(const Request&, unsigned number);
/// What lies unread on a fresh connection; a pooled one has been looked at when it was lent.
Unread unread_of(UpstreamConnection&);

/// The pinned one, or one from the pool; null: a fresh one has to be dialled. Never that of the attempt
/// before.
std::unique_ptr<UpstreamConnection> lease(Loop&, Request&, const policy::Start&);

}  // namespace reprise::net
