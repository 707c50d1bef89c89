// A message head as views into the buffer it was read into: nothing is copied, nothing is rebuilt.
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

/// Fields that the proxy itself looks at; everything else is `other` and passes untouched.
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
  std::string_view value;  ///< without outer blanks
  std::string_view line;   ///< as it came, or as it was made clean, with its CRLF
  FieldId id = FieldId::other;
};

/// How a body is delimited (RFC 9112 6.3).
struct Framing {
  enum class Kind : std::uint8_t { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  ///< for `length`; a `length` of 0 is kind `length`, so that it is forwarded
};

struct RequestHead final : policy::FieldLines {
  std::string_view method;
  std::string_view target;
  unsigned minor_version = 1;  ///< HTTP/1.x
  std::vector<FieldLine> fields;
  Framing framing;          ///< none, length or chunked
  std::size_t bytes = 0;    ///< length of the head in the buffer, skipped empty lines and blank line included
  std::size_t skipped = 0;  ///< bytes of empty lines before the request line, part of `bytes`
  bool close = false;       ///< Connection or Proxy-Connection lists `close`

  /// Resets every member, because the buffer is about to change or the head to be lent again. Keeps the
  /// storage of `fields`.
  void forget();
  /// The first of that name, in any case; null if there is none.
  const FieldLine* find(std::string_view name) const;
  const FieldLine* find(FieldId) const;
  bool has(std::string_view name, std::string_view value) const override;
  /// False where the client asks for the end of the connection, or speaks 1.0.
  bool keep_alive() const;
  bool expects_continue() const;
};

/// What a response head says besides its fields. Without storage, so that it is reset in one assignment.
struct ResponseLine {
  int status = 0;
  std::string_view reason;  ///< phrase, may be empty
  unsigned minor_version = 1;
  Framing framing;        ///< as it stands for a request of the method that was given to the parser
  bool close = false;     ///< Connection lists `close`, or it is 1.0 without keep-alive
  bool reusable = true;   ///< false: close, 1.0 without keep-alive, TE with CL, 1xx/204 with framing fields
  std::size_t bytes = 0;  ///< length of the head in the buffer, as it came
};

struct ResponseHead : ResponseLine {
  std::vector<FieldLine> fields;
  /// The head as write_clean_head made it, where it did not come clean: then the views are into this. Moved
  /// with the head, its bytes stay where they are.
  std::vector<char> clean;

  /// Resets every member, because the buffer is about to change or the head to be lent again. Keeps the
  /// storage of `fields`.
  void forget();
  const FieldLine* find(FieldId) const;
  /// The head that is judged and forwarded: `clean`, or its
  /// bytes at the start of the buffer it was read from.
  std::string_view text(std::string_view buffer) const {
    return clean.empty() ? buffer.substr(0, bytes) : std::string_view(clean.data(), clean.size());
  }
};

struct HeadLimits {
  std::size_t bytes = 64 * 1024;  ///< of a request's fields, without its request line; of a response's head
  std::size_t fields = 256;       ///< lines that continue a folded field are counted too
  std::size_t target_bytes = 64 * 1024;
};

/// `complete`: the head was filled. `partial`: more bytes are needed. Otherwise why it is refused.
enum class Progress : std::uint8_t { complete, partial };
using Parsed = std::variant<Progress, Rejection>;

}  // namespace reprise::http
