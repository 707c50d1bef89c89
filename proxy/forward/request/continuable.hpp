// Decides from the request and a response's head whether a download could be resumed after its body breaks.
#pragma once

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/http/retry_hints/download.hpp"

namespace reprise::forward {

/// Returns the byte range that the response carries, and the validators of its content. Values that the head
/// does not have keep their defaults.
policy::PartHead part_of(const policy::RoutePolicy&, const http::ResponseHead&);
policy::DownloadRequest download_request_of(const Incoming&);

/// Returns the idle limit of the body: `resume.stall` if the route could resume this download, else
/// `idle_timeout`.
Duration stall_limit_of(const Outgoing&, const Response&);

}  // namespace reprise::forward
