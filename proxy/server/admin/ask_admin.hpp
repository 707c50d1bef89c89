// A question to the admin listener of a running proxy, and its response.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"

namespace reprise::server {

/// Where an admin listener is: a name or an address without brackets, and a port in digits.
struct AdminAddress {
  std::string host;
  std::string port;
};

/// `127.0.0.1:3129`, `[::1]:3129`.
std::string authority_of(const AdminAddress&);

struct AdminResponse {
  int status = 0;    ///< 0: there was none
  std::string body;  ///< where there was none: why, and what to do
};

/// GET. The handler is called once, by that context, after `patience` at the latest; a name is looked up for
/// as long as the system does.
void ask_admin(boost::asio::io_context&, const AdminAddress&, std::string_view target, Duration patience,
               std::function<void(AdminResponse)>);
/// The same; blocks.
AdminResponse ask_admin(const AdminAddress&, std::string_view target, Duration patience);

}  // namespace reprise::server
