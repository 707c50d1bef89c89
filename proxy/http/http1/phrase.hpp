// The standard reason phrases (RFC 9110 15, and the registry for the rest).
#pragma once

#include <string_view>

namespace reprise::http {

/// Returns the phrase of a status; empty for a status that has none.
std::string_view reason_phrase(int status);

}  // namespace reprise::http
