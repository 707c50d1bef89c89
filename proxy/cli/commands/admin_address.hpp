// Where the admin listener of a running proxy is, by a command's flags.
#pragma once

#include <optional>
#include <string>

#include "proxy/server/admin/ask_admin.hpp"

namespace reprise::cli {

/// By `given` (HOST:PORT), else by `admin.bind` of that file, else by REPRISE_ADMIN, else the default.
/// Absent: that cannot be told, which has been written to standard error; `code` is what to exit with then.
std::optional<server::AdminAddress> admin_address(const std::string& given, const std::string& file,
                                                  int& code);

}  // namespace reprise::cli
