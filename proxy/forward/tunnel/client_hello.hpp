// A TLS ClientHello as a client sends it: whether it is there and nothing else, so that it can be sent again,
// and whom it asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace reprise::forward {

enum class Hello : std::uint8_t {
  more,   ///< the beginning of one
  whole,  ///< exactly one, without early data
  other,  ///< something else, or something behind it
};

/// A ClientHello above this is `other`.
inline constexpr std::size_t longest_hello = std::size_t{16} * 1024;

/// One ClientHello (RFC 8446 4.1.2; the form of TLS 1.2 too) in one or more handshake records (5.1), with
/// nothing behind it. One that announces early data (4.2.10) is `other`: what follows it is a request, which
/// must not be sent twice. Reads no further than it must, keeps nothing.
Hello judge_client_hello(std::string_view bytes);

/// Whom a ClientHello asks for, and what it would speak.
struct ClientHello {
  std::string server_name;        ///< SNI (RFC 6066 3), as written; empty where there is none
  bool offers_protocols = false;  ///< by ALPN (RFC 7301)
  bool offers_http_1_1 = false;   ///< among them
};

/// Reads the ClientHello that the bytes begin with, whatever stands behind it. `more` while it is not whole,
/// `other` where it is none, or one that is malformed.
std::variant<Hello, ClientHello> read_client_hello(std::string_view bytes);

}  // namespace reprise::forward
