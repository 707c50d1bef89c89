// Detects the protocol of a byte stream from its first bytes: HTTP/1.x, HTTP/2, TLS, or something else.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/http/message/intake.hpp"

namespace reprise::http {

/// The first bytes of a client that speaks HTTP/2 (RFC 9113 3.4).
inline constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Returns true if the bytes begin with the head of a SETTINGS frame, with which a server opens HTTP/2 (RFC
/// 9113 3.4). It may do so before the client has sent its preface.
bool begin_with_settings(std::string_view bytes);

/// Returns true if the bytes begin with the whole opening, or are only its first part.
bool fits_opening(std::string_view bytes, std::string_view opening);

/// The start of a byte stream: after CONNECT, through SOCKS, or redirected by the kernel. Holds the bytes and
/// events so far.
struct StreamStart {
  std::string_view from_client;        ///< all bytes from the client so far
  bool upstream_sent = false;          ///< a byte of the upstream has arrived; a FIN does not count
  bool waited_enough = false;          ///< the time limit has passed, or the client has sent a FIN
  bool upstream_speaks_http2 = false;  ///< the upstream's first bytes are SETTINGS of HTTP/2
};

enum class DetectedProtocol : std::uint8_t {
  more,          ///< undecided: wait for more bytes
  http,          ///< an HTTP/1.x request to the tunnel's own upstream
  http2,         ///< the HTTP/2 preface in clear text
  tls,           ///< a TLS handshake record
  server_first,  ///< the upstream has sent the first byte, and the stream is not HTTP/2
  silence,       ///< neither side has sent a byte
  opaque,        ///< anything else
};

/// Detects the protocol from the first bytes and from the side that sent them (row G7).
/// - `http`: a whole request line that ends in CRLF. Its target is in origin-form, is `*` for OPTIONS, or is
///   in absolute-form for exactly the origin of the CONNECT.
/// - `http2`: the whole preface (RFC 9113 3.4).
/// - `tls`: the first two bytes of a handshake record.
/// - `opaque`: reported at the first byte that rules out all of the others, for instance for a request to
///   another proxy at the end of the tunnel, or for a target of more than `longest_target` bytes.
DetectedProtocol detect_by_first_bytes(const StreamStart&, const Connect& tunnel, std::size_t longest_target);

}  // namespace reprise::http
