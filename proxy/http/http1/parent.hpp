// What a parent proxy is sent: heads in absolute-form, and our own CONNECT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Turns a head as write_request_head makes it into one for a parent proxy: in absolute-form (RFC 9112
/// 3.2.2), `http://host:port/path` without the port where it is 80, and with Proxy-Authorization unless
/// `authorization`, its value, is empty. A target of `*` becomes one without a path (RFC 9112 3.2.4).
void make_absolute(std::string_view host, std::uint16_t port, std::string_view authorization,
                   std::string& head);

/// Appends a whole CONNECT for that upstream, made because of `head`: it has the same Via and ours, so that a
/// loop of proxies is noticed (RFC 9110 7.6.3), and no other field of it.
void write_connect(const RequestHead& head, std::string_view host, std::uint16_t port,
                   std::string_view authorization, std::string_view via_pseudonym, std::string& out);

}  // namespace reprise::http
