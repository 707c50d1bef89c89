// Parses the messages of a SOCKS5 client (RFC 1928), a greeting and a request, and formats the replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::forward {

/// A complete greeting that offers the method "no authentication".
struct SocksGreeting {
  std::size_t bytes = 0;
};
/// A complete CONNECT request.
struct SocksRequest {
  std::size_t bytes = 0;
  std::string host;  ///< a name or a literal address, without brackets
  std::uint16_t port = 0;
};

/// The result of `read_socks_greeting` and `read_socks_request` if more bytes are needed. The rejections of
/// both functions:
/// - socks_version: not SOCKS5;
/// - socks_malformed: wrong lengths or values;
/// - socks_method: the client offers only methods with authentication;
/// - socks_command: BIND or UDP ASSOCIATE;
/// - socks_address: unknown address type.
struct SocksPartial {};
std::variant<SocksPartial, http::Rejection, SocksGreeting> read_socks_greeting(std::string_view bytes);
std::variant<SocksPartial, http::Rejection, SocksRequest> read_socks_request(std::string_view bytes);

/// Returns the reply to the greeting: the method "no authentication" if `accepted`, else "no acceptable
/// method".
std::string socks_method_reply(bool accepted);
/// Returns the reply which reports that the tunnel is established.
std::string socks_success();
/// Returns the reply which reports that no tunnel is established. The field REP holds the cause (RFC 1928 6).
std::string socks_failure(http::Rejection);
std::string socks_failure(policy::Cause);

}  // namespace reprise::forward
