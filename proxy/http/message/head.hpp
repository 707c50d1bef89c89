// Message heads as views into the buffer from which they were read. Nothing is copied or rebuilt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::http {

/// Fields that the proxy itself reads. All other fields are `other` and pass unchanged.
enum class FieldId : std::uint8_t {
  other,
  connection,
  content_length,
  date,
  expect,
  host,
  keep_alive,
  max_forwards,
  proxy_authenticate,
  proxy_authorization,
  proxy_connection,
  proxy_status,
  reprise,  // any field whose name starts with "Reprise-"
  retry_after,
  te,
  trailer,
  transfer_encoding,
  upgrade,
  via,
};

struct FieldLine {
  std::string_view name;
  std::string_view value;  ///< without blanks at either end
  std::string_view line;   ///< the line with its CRLF, as received or as write_clean_head wrote it
  FieldId id = FieldId::other;
};

/// How the end of a body is determined (RFC 9112 6.3).
struct Framing {
  enum class Kind : std::uint8_t { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  ///< value of Content-Length if the kind is `length`; may be 0
};

struct RequestHead final : policy::FieldLines {
  std::string_view method;
  std::string_view target;
  unsigned minor_version = 1;  ///< the x of HTTP/1.x
  bool over_http2 = false;     ///< the request arrived over HTTP/2, and was written as HTTP/1.1
  /// Over HTTP/2: names of the fields that must not be compressed on the next hop either, as a comma list in
  /// lower case (RFC 7541 6.2.3).
  std::string_view never_indexed;
  std::vector<FieldLine> fields;
  Framing framing;          ///< none, length or chunked
  std::size_t bytes = 0;    ///< length of the head in the buffer, with `skipped` and the final blank line
  std::size_t skipped = 0;  ///< bytes of the empty lines before the request line; included in `bytes`
  bool close = false;       ///< Connection or Proxy-Connection lists `close`

  /// Resets every member but keeps the storage of `fields`. Call before the buffer changes or the head is
  /// reused.
  void reset();
  /// Returns the first field with that name; letter case is ignored. Null if there is none.
  const FieldLine* find(std::string_view name) const;
  const FieldLine* find(FieldId) const;
  bool has(std::string_view name, std::string_view value) const override;
  /// Returns false if the client asks to close the connection, or uses HTTP/1.0.
  bool keep_alive() const;
  bool expects_continue() const;
};

/// A response head without its fields. Owns no storage, so that one assignment resets it.
struct ResponseLine {
  int status = 0;
  std::string_view reason;     ///< reason phrase; may be empty
  unsigned minor_version = 1;  ///< the x of HTTP/1.x
  bool over_http2 = false;     ///< the response arrived over HTTP/2, and was written as HTTP/1.1
  Framing framing;             ///< depends on the request method that was given to the parser
  bool close = false;          ///< Connection lists `close`, or the version is 1.0 without keep-alive
  /// False in four cases: `close` is true; the head has both Content-Length and Transfer-Encoding; the
  /// version is 1.0 and the head has Transfer-Encoding; the status is 1xx or 204 and the head has framing
  /// fields.
  bool reusable = true;
  std::size_t bytes = 0;  ///< length of the head in the buffer, as received
};

struct ResponseHead : ResponseLine {
  std::vector<FieldLine> fields;
  /// The head as written by write_clean_head; empty if the head was received in clean form. If this buffer is
  /// not empty, all views point into it. The views stay valid when the head is moved.
  std::vector<char> clean;

  /// Resets every member but keeps the storage of `fields`. Call before the buffer changes or the head is
  /// reused.
  void reset();
  const FieldLine* find(FieldId) const;
  /// Returns the text of the head that is judged and forwarded: `clean`, or the start of `buffer` if `clean`
  /// is empty. Precondition: the head was read from `buffer`.
  std::string_view text(std::string_view buffer) const {
    return clean.empty() ? buffer.substr(0, bytes) : std::string_view(clean.data(), clean.size());
  }
};

struct HeadLimits {
  std::size_t bytes = 64 * 1024;  ///< limit for the fields of a request, or for the whole head of a response
  std::size_t fields = 256;  ///< maximum number of field lines, including continuation lines of folded fields
  std::size_t target_bytes = 64 * 1024;
};

/// The result of reading a head: `complete` if all of it was read, `partial` if more bytes are needed.
enum class Progress : std::uint8_t { complete, partial };
using Parsed = std::variant<Progress, Rejection>;

}  // namespace reprise::http
