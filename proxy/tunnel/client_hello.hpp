// Whether what a client has sent into a tunnel is one TLS ClientHello and
// nothing else, so that it can be sent again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::http {

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

}  // namespace reprise::http
