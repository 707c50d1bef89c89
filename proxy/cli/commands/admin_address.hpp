// Determines the address of a running proxy's admin listener from the flags of a command.
#pragma once

#include <optional>
#include <string>

#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// Returns the address from the first of these that is set: `given` (HOST:PORT), `admin.bind` of the file,
/// REPRISE_ADMIN, the default. If the address cannot be determined, prints why, sets the exit `code`, and
/// returns nothing.
std::optional<server::AdminAddress> admin_address(const std::string& given, const std::string& file,
                                                  int& code);

}  // namespace reprise::cli
