// Returns advice on how to get another outcome, for each reason for which an explained request can end.
#pragma once

#include <string>

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Returns advice on what to change in the route or the request. The text ends with a full stop.
/// Precondition: `reason` ended one of the two courses of the explanation (`lowest` or `highest`).
std::string advice(policy::Reason reason, const Explanation&, const policy::RoutePolicy&);

/// Returns advice on an attempt that nothing ends. Precondition: `Explanation::hangs`.
std::string advice_if_hanging(const Explanation&, const policy::RoutePolicy&);

/// Returns the word of `retry.on` that would make this outcome retryable. Empty if no word covers the
/// outcome.
std::string retry_word(const policy::Outcome&);

}  // namespace reprise::tools
