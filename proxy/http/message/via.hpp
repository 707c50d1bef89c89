// Which proxies a message has passed: our own (then it loops), or another reprise.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// True if a Via field of the request carries that pseudonym (RFC 9110 7.6.3): the request has looped.
bool has_looped(const RequestHead&, std::string_view pseudonym);
/// True for a field of a response in which a reprise has put its name: a Via that holds one, or a
/// Proxy-Status (RFC 9209) of its own responses.
bool names_reprise(const FieldLine&);

}  // namespace reprise::http
