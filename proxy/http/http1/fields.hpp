// Identifies, by their names, the fields that the proxy reads.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns the id of the field with that name; ASCII case is ignored. Precondition: the name is not empty.
FieldId identify_field(std::string_view name);

}  // namespace reprise::http
