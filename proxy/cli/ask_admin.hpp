// One question to the admin listener of a running proxy, and its response.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/io/clock.hpp"

namespace reprise::cli {

/// Where the admin listener is, and which of its flags and files said so.
struct AdminAddress {
  std::string host;
  std::string port;
};

/// By `given` (HOST:PORT), else by `admin.bind` of that file, else where it is by default. Absent: that
/// cannot be told, which has been written to standard error; `code` is what to exit with then.
std::optional<AdminAddress> admin_address(const std::string& given, const std::string& file, int& code);

struct AdminResponse {
  int status = 0;    ///< 0: there was none
  std::string body;  ///< where there was none: why, and what to do
};

/// GET. Blocks for `patience` at most.
AdminResponse ask_admin(const AdminAddress&, std::string_view target, net::Duration patience);

}  // namespace reprise::cli
