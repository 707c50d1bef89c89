// Sends one request to the admin listener of a running proxy.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/net/io/clock.hpp"

namespace reprise::server {

/// Address of an admin listener: a name, or an address without brackets, and a port in digits.
struct AdminAddress {
  std::string host;
  std::string port;
};

/// Returns text such as `127.0.0.1:3129` or `[::1]:3129`.
std::string authority_of(const AdminAddress&);

struct AdminResponse {
  int status = 0;    ///< 0 if there was no response
  std::string body;  ///< if there was no response: why, and what to do
};

/// Sends a GET. Calls the handler once, on the io_context, at most `timeout` after the name was resolved. The
/// time of the lookup is not limited: the system's resolver decides.
void ask_admin(boost::asio::io_context&, const AdminAddress&, std::string_view target, Duration timeout,
               std::function<void(AdminResponse)>);
/// Sends a GET and blocks until the result.
AdminResponse ask_admin(const AdminAddress&, std::string_view target, Duration timeout);

}  // namespace reprise::server
