// Detects a TLS ClientHello that can be sent again, and reads its server name and protocols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace reprise::forward {

enum class Hello : std::uint8_t {
  more,   ///< the beginning of a ClientHello
  whole,  ///< exactly one ClientHello, without early data
  other,  ///< something else, or more than one ClientHello
};

/// Maximum size of a ClientHello in bytes. A longer ClientHello counts as `other`.
inline constexpr std::size_t longest_hello = std::size_t{16} * 1024;

/// Detects exactly one ClientHello (RFC 8446 4.1.2; also in the form of TLS 1.2) in one or more handshake
/// records (5.1), with no bytes after it. A ClientHello that announces early data (4.2.10) is `other`,
/// because it is followed by a request that must not be sent twice. Reads only as far as needed and keeps no
/// bytes.
Hello judge_client_hello(std::string_view bytes);

/// The server name and protocols of a ClientHello.
struct ClientHello {
  std::string server_name;        ///< SNI (RFC 6066 3), as written; empty if absent
  bool offers_protocols = false;  ///< has an ALPN extension (RFC 7301)
  bool offers_http_1_1 = false;   ///< ALPN lists http/1.1
  bool offers_http2 = false;      ///< ALPN lists h2
};

/// Reads the ClientHello at the front of the bytes and ignores the bytes after it. Returns `more` if the
/// ClientHello is incomplete, and `other` if the bytes are not a well-formed ClientHello.
std::variant<Hello, ClientHello> read_client_hello(std::string_view bytes);

}  // namespace reprise::forward
