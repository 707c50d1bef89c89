// One try at one request: lease or dial a connection, send, read to the response's head. It never decides.
#pragma once

#include "proxy/forward/attempt/one_attempt.hpp"

namespace reprise::forward {

/// Brings a response head into `response`, or a failure; `result` says which.
Task<void> attempt(OneAttempt&, const policy::Start&);

}  // namespace reprise::forward
