// SOCKS5 as a client speaks it (RFC 1928), read as far as it has come: a greeting, then where it wants to go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::forward {

/// The greeting is whole, and offers what is needed: no authentication.
struct SocksGreeting {
  std::size_t bytes = 0;
};
/// CONNECT, whole.
struct SocksRequest {
  std::size_t bytes = 0;
  std::string host;  ///< a name or a literal address, without brackets
  std::uint16_t port = 0;
};

/// More bytes are needed, or why it is refused: socks_version for what is no SOCKS5, socks_malformed for
/// wrong lengths, socks_method where only authentication is offered, socks_command for BIND and UDP
/// ASSOCIATE, socks_address for an address type that there is not.
struct SocksPartial {};
std::variant<SocksPartial, http::Rejection, SocksGreeting> read_socks_greeting(std::string_view bytes);
std::variant<SocksPartial, http::Rejection, SocksRequest> read_socks_request(std::string_view bytes);

/// That no authentication is wanted, or that no method will do.
std::string socks_method_reply(bool accepted);
/// The tunnel stands.
std::string socks_success();
/// None will: by the field REP of RFC 1928 6.
std::string socks_failure(http::Rejection);
std::string socks_failure(policy::Cause);

}  // namespace reprise::forward
