// Whether a response whose body breaks could be continued, as far as its head and the request tell.
#pragma once

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/http/retry_hints/download.hpp"

namespace reprise::forward {

/// Which part of which version of the content a response has, by its head.
policy::PartHead part_of(const policy::RoutePolicy&, const http::ResponseHead&);
policy::DownloadRequest asked_by(const Incoming&);

/// How long the body of that response may bring no byte: `resume.stall` where the route could continue it,
/// else `idle_timeout`.
Duration patience_with(const Outgoing&, const Response&);

}  // namespace reprise::forward
