// Writes the proxy's own 200 response to OPTIONS and TRACE if Max-Forwards is 0 (RFC 9110 7.6.2).
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Appends the whole response. TRACE echoes the request head as message/http, without fields that may hold
/// secrets: Authorization, Cookie, Proxy-*, X-Api-Key and similar (RFC 9110 9.3.8, row J5). OPTIONS has no
/// content. `connection_field` is empty or a whole line with CRLF.
void write_max_forwards_response(const RequestHead&, std::string_view date, std::string_view connection_field,
                                 std::string& out);

}  // namespace reprise::http
