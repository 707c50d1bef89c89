// The outgoing head, built in one pass: runs of untouched
// lines copied, hop-by-hop lines left out, ours added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/gateway_view.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/http/message/intake.hpp"

namespace reprise::http {

/// Appends to `out` the head that every attempt sends, up to but without the final blank line (so that an
/// attempt may add its own field). Origin-form, HTTP/1.1, Host right after the request line when it is
/// rewritten, hop-by-hop fields and those that Connection names removed (RFC 9110 7.6.1; framing, routing and
/// credential fields that Connection must not name stay), equal repeated Content-Length written once,
/// `Transfer-Encoding: chunked` where framed so, `Reprise-Attempt` removed, Max-Forwards decremented on
/// OPTIONS and TRACE, `Via: 1.x pseudonym` unless the pseudonym is empty. `path_prefix` goes before the path
/// (gateway). `keep_upgrade`: Upgrade and `Connection: upgrade` are kept.
void write_request_head(const RequestHead&, const Forward&, std::string_view path_prefix,
                        std::string_view via_pseudonym, bool keep_upgrade, std::string& out);

/// Appends the line `Via: 1.x pseudonym` for a message that came in that minor version (RFC 9110 7.6.3).
void append_via(unsigned minor_version, std::string_view pseudonym, std::string& out);

/// Turns the head of a chunked request, as write_request_head made it, into one of that length, for an
/// upstream that speaks HTTP/1.0 (row A10). The trailers are not sent then, so Trailer goes as well.
void frame_by_length(std::uint64_t length, std::string& head);

struct ResponseRewrite {
  unsigned client_minor_version = 1;  ///< of the request
  bool close = false;                 ///< say `Connection: close`
  bool chunked = false;               ///< the body goes out chunked
  std::string_view via_pseudonym;
  std::string_view date;          ///< added where the response has none (IMF-fixdate)
  std::string_view extra_fields;  ///< whole lines with CRLF: Reprise-Attempts, Proxy-Status ...
  bool drop_alt_svc =
      false;  ///< gateway and transparent modes: the client must not leave the proxy (RFC 7838 2.4)
  const GatewayView* gateway =
      nullptr;  ///< `redirects: rewrite`: changes Location and Set-Cookie; null: stay
};
/// Appends the whole outgoing response head to `out`, blank line included. Reprise-* fields of an inner
/// reprise are removed.
void write_response_head(const ResponseHead&, const ResponseRewrite&, std::string& out);

/// Appends to `out` the lines of `trailers` (as ChunkDecoder gives them) that the Connection fields of the
/// message's own head do not name (row J1).
void append_trailers(std::string_view trailers, const std::vector<FieldLine>& head_fields, std::string& out);

}  // namespace reprise::http
