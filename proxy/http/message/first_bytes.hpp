// What a byte stream is, by how it begins: requests that can be read and retried, TLS, or something that is
// nobody's business.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/http/message/intake.hpp"

namespace reprise::http {

/// What has been heard since the stream stands: behind CONNECT, through SOCKS, or taken over on its way.
struct Heard {
  std::string_view from_client;  ///< all of it, from the first byte
  bool upstream_spoke = false;   ///< a byte has come; a FIN says nothing
  bool waited_enough = false;    ///< the time is up, or the client sends no more
};

enum class FirstWords : std::uint8_t {
  more,          ///< wait on
  http,          ///< a request of HTTP/1.x to the tunnel's own upstream
  http2,         ///< its preface, in clear text: bytes pass unseen, as with all that follow
  tls,           ///< a handshake record
  server_first,  ///< the upstream has spoken before the client
  silence,       ///< nobody has
  opaque,        ///< anything else
};

/// Whoever speaks first decides (row G7). `http` is a whole request line, ended by CRLF, whose target is in
/// origin-form, `*` for OPTIONS, or in absolute-form for the very origin of the CONNECT. `http2` is its whole
/// preface (RFC 9113 3.4), `tls` the first two bytes of a handshake record. What cannot become any of them is
/// opaque at its first wrong byte: a request that is meant for another proxy behind the tunnel, a target over
/// `longest_target` bytes.
FirstWords judge_first_words(const Heard&, const Connect& tunnel, std::size_t longest_target);

}  // namespace reprise::http
