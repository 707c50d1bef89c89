// Writes what is sent to a parent proxy: heads in absolute-form, and CONNECT requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Changes a head from write_request_head into one for a parent proxy. The target becomes absolute-form (RFC
/// 9112 3.2.2), `http://host:port/path`, without the port if it is 80. A target of `*` becomes an
/// absolute-form without a path (RFC 9112 3.2.4). Adds Proxy-Authorization with the value `authorization`,
/// unless that is empty.
void make_absolute(std::string_view host, std::uint16_t port, std::string_view authorization,
                   std::string& head);

/// Appends a whole CONNECT request for the upstream `host:port`, on behalf of the request `head`. Copies the
/// Via fields of `head` and adds this proxy's Via, so that a loop of proxies is detected (RFC 9110 7.6.3).
/// Copies no other field.
void write_connect(const RequestHead& head, std::string_view host, std::uint16_t port,
                   std::string_view authorization, std::string_view via_pseudonym, std::string& out);

}  // namespace reprise::http
