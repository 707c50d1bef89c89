// Sends a request to an upstream once, over a leased or dialled connection or an HTTP/2 stream, and reads the
// response head.
#pragma once

#include "proxy/forward/attempt/one_attempt.hpp"

namespace reprise::forward {

/// Runs one attempt. Stores its outcome in `OneAttempt::result`, and the response head in
/// `OneAttempt::response`, which stays empty if no head arrives.
Task<void> attempt(OneAttempt&, const policy::Start&);

}  // namespace reprise::forward
