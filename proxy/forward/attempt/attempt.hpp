// Sends a request to an upstream once, over a leased or dialled connection, and reads the response head.
#pragma once

#include "proxy/forward/attempt/one_attempt.hpp"

namespace reprise::forward {

/// Runs one attempt and stores its outcome in `result`. Stores the response head in `response`, which stays
/// empty if no head arrives.
Task<void> attempt(OneAttempt&, const policy::Start&);

}  // namespace reprise::forward
