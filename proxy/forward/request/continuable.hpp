// Whether a response whose body breaks could be continued, as far as its head and the request tell.
#pragma once

#include "proxy/message/request.hpp"
#include "proxy/message/response.hpp"
#include "proxy/repeat/download.hpp"

namespace reprise::net {

/// What the head says of which part of which version this is.
policy::PartHead part_of(const Request&, const http::ResponseHead&);
policy::DownloadRequest asked_by(const Request&);

/// How long the body of that response may bring no byte: `resume.stall` where the route could continue it,
/// else `idle_timeout`.
Duration patience_with(const Request&, const Response&);

}  // namespace reprise::net
