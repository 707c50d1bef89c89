// Builds outgoing heads in one pass: copies runs of unchanged lines, omits hop-by-hop lines, adds the proxy's
// own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/gateway_view.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/http/message/intake.hpp"

namespace reprise::http {

/// Appends the request head that every attempt sends, without the final blank line, so that an attempt can
/// add its own field. The head has these properties:
/// - The target is in origin-form and the version is HTTP/1.1.
/// - A rewritten Host follows the request line.
/// - Hop-by-hop fields and fields that Connection names are removed (RFC 9110 7.6.1), except framing, routing
///   and credential fields, which Connection must not name.
/// - Repeated equal Content-Length fields become one. `Transfer-Encoding: chunked` is written if the body is
///   chunked.
/// - Trailer is kept if trailers may follow: the body is chunked, or the request arrived over HTTP/2.
/// - `Reprise-Attempt` is removed.
/// - Max-Forwards is decremented on OPTIONS and TRACE.
/// - Via is added unless the pseudonym is empty.
/// - Upgrade and `Connection: upgrade` are kept if `keep_upgrade` is true.
void write_request_head(const RequestHead&, const Forward&, std::string_view via_pseudonym, bool keep_upgrade,
                        std::string& out);

/// Returns the version in which the message was received, as Via names it: `1.0`, `1.1` or `2.0`.
std::string_view version_of(const RequestHead&);
std::string_view version_of(const ResponseHead&);

/// Appends the line `Via: version pseudonym`. `version`: the one in which the message was received (RFC 9110
/// 7.6.3).
void append_via(std::string_view version, std::string_view pseudonym, std::string& out);

/// Replaces the chunked framing in a head from write_request_head with a Content-Length of `length`, for an
/// HTTP/1.0 upstream (row A10). Also removes the Trailer field, because trailers cannot be sent without
/// chunks.
void frame_by_length(std::uint64_t length, std::string& head);

struct ResponseRewrite {
  unsigned client_minor_version = 1;  ///< minor version of the request
  bool close = false;                 ///< send `Connection: close`
  bool chunked = false;               ///< the body is sent chunked
  bool over_http2 = false;            ///< to a client of HTTP/2, where every body may have trailers
  std::string_view via_pseudonym;
  std::string_view date;          ///< IMF-fixdate; added if the response has no Date
  std::string_view extra_fields;  ///< whole lines with CRLF: Reprise-Attempts, Proxy-Status ...
  /// Removes Alt-Svc, so that the client does not bypass the proxy (RFC 7838 2.4). True in gateway and
  /// transparent modes.
  bool drop_alt_svc = false;
  /// The gateway for `redirects: rewrite`, which changes Location and Set-Cookie. Null: no change.
  const GatewayView* gateway = nullptr;
};
/// Appends the whole outgoing response head, including the blank line. Removes Reprise-* fields that another
/// reprise has added.
void write_response_head(const ResponseHead&, const ResponseRewrite&, std::string& out);

/// Appends the lines of `trailers` (from ChunkDecoder), without the fields that Connection lists in the same
/// message (row J1).
void append_trailers(std::string_view trailers, const std::vector<FieldLine>& head_fields, std::string& out);

}  // namespace reprise::http
