// Decides from the request and a response's head whether a download could be resumed after its body breaks.
#pragma once

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/http/retry_hints/download.hpp"

namespace reprise::forward {

/// Reads from the response's head which part of which version of the content it carries.
policy::PartHead part_of(const policy::RoutePolicy&, const http::ResponseHead&);
policy::DownloadRequest asked_by(const Incoming&);

/// Returns the longest time that the body may deliver no byte: `resume.stall` if the route could resume this
/// download, else `idle_timeout`.
Duration patience_with(const Outgoing&, const Response&);

}  // namespace reprise::forward
