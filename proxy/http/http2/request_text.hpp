// Checks the fields of a request as HTTP/2 decodes them, and writes them as HTTP/1 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/http2/block_check.hpp"
#include "proxy/http/http2/websocket.hpp"

namespace reprise::http {

/// The form of a request target in HTTP/1 text (RFC 9112 3.2).
enum class TargetForm : std::uint8_t {
  origin,    ///< `/path`, for listeners that know the upstream, and inside tunnels
  absolute,  ///< `http://authority/path`, for forward listeners
};

/// One header block of a request: the head, or the trailer section. Add every field of the block before
/// calling `end`. Fields after a rejected field are not stored. The text is the head that parse_request
/// accepts, unless its Expect field is rejected (row C2):
/// - The target has the form of the listener. The target of CONNECT is its `:authority`. `OPTIONS *` is
///   `OPTIONS http://authority` in absolute-form (RFC 9112 3.2.4).
/// - Host comes first, with the value of `:authority`, or of `host` if there is no `:authority`.
/// - The other fields keep their order and their names in lower case. Cookies are joined by `; ` in the place
///   of the first one (RFC 9113 8.2.3, row M46).
/// - `te: trailers` is passed. write_request_head writes the `Connection: TE` that HTTP/1 needs (row M34).
/// - A body without Content-Length is chunked. A POST, PUT or PATCH without a body has the length 0 (row
///   M35). CONNECT never has a body.
/// - An extended CONNECT (RFC 8441, row M12) is a GET without a body. If it asks for a WebSocket, the fields
///   Connection and Upgrade follow Host. The caller adds a Sec-WebSocket-Key, because that of the client is
///   dropped.
class RequestText {
 public:
  using Section = BlockCheck::Section;

  explicit RequestText(TargetForm form) : form_(form) {}

  /// Starts a block. The limits apply as to an HTTP/1 head, with these differences: for each field, its name,
  /// its value and 32 more bytes count against `HeadLimits::bytes` (RFC 9113 6.5.2); the value of `:path`
  /// counts only against `HeadLimits::target_bytes`. Cookies count as one field against `HeadLimits::fields`.
  void begin(Section, const HeadLimits&);
  /// Checks a decoded field (rows M49 to M51) and stores it. A field that must not be in trailers is checked
  /// but not stored there (RFC 9110 6.5.1). `never_indexed`: the field arrived as never-indexed.
  void add(std::string_view name, std::string_view value, bool never_indexed = false);
  /// Rejects the block because of a field that the decoder has found invalid.
  void refuse(std::string_view name, std::string_view value);
  /// Ends the block. `end_stream`: the frame has END_STREAM. Returns why the block is malformed or too large;
  /// nothing if it is neither. Rejects:
  /// - a scheme other than http and https, because HTTP/1 text has no form for it;
  /// - every pseudo-field that neither RFC 9113 8.3.1 nor RFC 8441 defines, and `:protocol` without CONNECT;
  /// - an extended CONNECT with a Content-Length, because its DATA are not a body;
  /// - a Content-Length above 0 if the request ends with its head, and trailers that do not end the request
  ///   (row M52).
  std::optional<Rejection> end(bool end_stream);

  /// Returns the head, from its request line to its empty line, or the lines of the trailer section. Empty if
  /// the block was rejected.
  const std::string& text() const { return text_; }
  /// Returns the names of the fields of a head that arrived as never-indexed, as a comma list (row M47).
  /// Pass it to write_request_fields.
  const std::string& never_indexed() const { return never_indexed_; }

  /// Returns the protocol that the head asks for in `:protocol`.
  ConnectProtocol protocol() const { return line_.protocol; }
  /// Returns true if the fields that were added so far are those of a gRPC call.
  bool begins_call() const;

 private:
  /// The pseudo-fields of the block.
  struct Line {
    std::optional<std::string> method;
    std::optional<std::string> path;
    std::optional<std::string> authority;
    std::optional<bool> https;  ///< `:scheme` is https; unset if there is no `:scheme`
    ConnectProtocol protocol = ConnectProtocol::none;

    bool is_connect() const { return method == "CONNECT"; }
    /// Returns true for a CONNECT that opens a tunnel.
    bool is_tunnel() const { return is_connect() && !is_extended(); }
    bool is_extended() const { return protocol != ConnectProtocol::none; }
  };

  void list_never_indexed(std::string_view name);
  void add_pseudo(std::string_view name, std::string_view value, bool never_indexed);
  std::optional<Rejection> store_pseudo(std::string_view name, std::string_view value);
  std::optional<Rejection> store_protocol(std::string_view value);
  void add_cookie(std::string_view value, bool never_indexed);
  void add_host(std::string_view value);
  std::optional<Rejection> judge_line() const;
  std::optional<Rejection> judge_host() const;
  void end_head(bool end_stream);
  std::string target() const;
  std::string_view framing(bool end_stream) const;

  TargetForm form_;
  BlockCheck check_;
  Line line_;
  bool has_fields_ = false;  ///< an ordinary field was added
  std::optional<std::string> host_;
  std::string lines_;          ///< ordinary fields, without host and cookies
  std::size_t cookie_at_ = 0;  ///< offset in `lines_` at which the joined cookie belongs
  std::optional<std::string> cookie_;
  bool hides_cookie_ = false;  ///< a part of the cookie arrived as never-indexed
  std::string never_indexed_;
  std::string text_;
};

}  // namespace reprise::http
