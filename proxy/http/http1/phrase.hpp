// The standard reason phrases of statuses (RFC 9110 15 and the IANA registry).
#pragma once

#include <string_view>

namespace reprise::http {

/// Returns the reason phrase of a status; empty if it has none.
std::string_view reason_phrase(int status);

}  // namespace reprise::http
