// How a tunnel begins: with requests that can be read and retried,
// or with something that is nobody's business.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/http/intake.hpp"

namespace reprise::http {

/// What has been heard since the tunnel stands.
struct Heard {
  std::string_view from_client;  ///< all of it, from the first byte
  bool upstream_spoke = false;   ///< a byte has come; a FIN says nothing
  bool waited_enough = false;    ///< the time is up, or the client sends no more
};

enum class FirstWords : std::uint8_t {
  more,    ///< wait on
  http,    ///< a request of HTTP/1.x to the tunnel's own upstream
  opaque,  ///< anything else: bytes pass unseen
};

/// Whoever speaks first decides (row G7). `http` is a whole request line, ended by CRLF, whose target is in
/// origin-form, `*` for OPTIONS, or in absolute-form for the very origin of the CONNECT. What cannot become
/// one is opaque at its first wrong byte: a TLS record, the preface of HTTP/2 (`PRI * HTTP/2.0`), a request
/// that is meant for another proxy behind the tunnel, a target over `longest_target` bytes.
FirstWords judge_first_words(const Heard&, const Connect& tunnel, std::size_t longest_target);

}  // namespace reprise::http
