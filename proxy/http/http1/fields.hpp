// The names of the fields that the proxy looks at.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Which known field that is; ASCII case is folded. Precondition: the name is not empty.
FieldId identify_field(std::string_view name);

}  // namespace reprise::http
