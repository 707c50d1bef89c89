// Whether a response whose body breaks could be continued, as far as its head and the request tell.
#pragma once

#include "proxy/forward/request/request.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/http/retry_hints/download.hpp"

namespace reprise::forward {

/// What the head says of which part of which version this is.
policy::PartHead part_of(const Request&, const http::ResponseHead&);
policy::DownloadRequest asked_by(const Request&);

/// How long the body of that response may bring no byte: `resume.stall` where the route could continue it,
/// else `idle_timeout`.
Duration patience_with(const Request&, const Response&);

}  // namespace reprise::forward
