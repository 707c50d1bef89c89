// Determines the address of a running proxy's admin listener from the flags of a command.
#pragma once

#include <optional>
#include <string>

#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// Returns the address of the admin listener. Takes it from the first source that is set: `given`
/// (HOST:PORT), `admin.bind` in the configuration `file`, the variable REPRISE_ADMIN, the default address. If
/// the address cannot be determined, prints why, sets the exit `code`, and returns nothing.
std::optional<server::AdminAddress> admin_address(const std::string& given, const std::string& file,
                                                  int& code);

}  // namespace reprise::cli
