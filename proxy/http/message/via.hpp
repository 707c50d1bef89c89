// Detects whether a message has passed this proxy (a loop) or another reprise.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns true if a Via field of the request names that pseudonym (RFC 9110 7.6.3), so that the request has
/// looped.
bool has_looped(const RequestHead&, std::string_view pseudonym);
/// Returns true if the field of a response shows that it passed a reprise: a Via member, or the Proxy-Status
/// (RFC 9209) of a response that a reprise made itself.
bool names_reprise(const FieldLine&);

}  // namespace reprise::http
