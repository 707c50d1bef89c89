#include "proxy/cli/commands/admin_address.hpp"

#include <boost/asio/ip/address.hpp>
#include <cstdio>

#include "proxy/cli/commands/assumption.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"

namespace reprise::cli {
namespace {

namespace asio = boost::asio;

// Returns the address at which a client on this host reaches a listener with the bind address `bound`. If the
// listener is bound to all addresses, this is the loopback address.
std::string asked_at(const std::string& bound) {
  boost::system::error_code ignored;
  const auto address = asio::ip::make_address(bound, ignored);
  if (ignored || !address.is_unspecified()) return bound;
  return address.is_v6() ? "::1" : "127.0.0.1";
}

std::optional<server::AdminAddress> split(const std::string& given) {
  const std::size_t colon = given.rfind(':');
  const bool is_port = !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
  if (is_port) return server::AdminAddress{"127.0.0.1", given};
  if (colon == std::string::npos || colon == 0 || colon + 1 == given.size()) return std::nullopt;
  std::string host = given.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return server::AdminAddress{std::move(host), given.substr(colon + 1)};
}

}  // namespace

std::optional<server::AdminAddress> admin_address(const std::string& given, const std::string& file,
                                                  int& code) {
  if (!given.empty()) {
    auto at = split(given);
    if (!at) throw BadUse("--admin " + given + ": not an address: write HOST:PORT, such as 127.0.0.1:3129");
    return at;
  }
  const config::Loaded loaded = load_configuration(file);
  if (!loaded.settings) {
    code = exit_bad_configuration;
    return std::nullopt;
  }
  const config::Endpoint& bound = loaded.settings->admin.bind;
  if (bound.is_off()) {
    std::fprintf(stderr,
                 "%s: error: admin is off, so this command cannot reach the proxy: use reprise status, which "
                 "uses the control socket\n",
                 file.empty() ? "reprise" : file.c_str());
    code = exit_usage;
    return std::nullopt;
  }
  if (bound.port == 0) {
    std::fprintf(stderr,
                 "%s: error: admin.bind: port 0 means that the port is chosen at start: write --admin "
                 "HOST:PORT with the address from the proxy's log\n",
                 file.empty() ? "reprise" : file.c_str());
    code = exit_usage;
    return std::nullopt;
  }
  return server::AdminAddress{asked_at(bound.address), std::to_string(bound.port)};
}

}  // namespace reprise::cli
