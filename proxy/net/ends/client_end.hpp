// The client's end of one exchange: takes the response, whatever the HTTP version is.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/net/io/stream.hpp"
#include "proxy/policy/decision/http2_code.hpp"

namespace reprise::net {

/// Takes one response: interim heads, then a head, the pieces of the body, and its end. Parts are added first
/// and then sent together. All views must stay valid until they are sent.
class ClientEnd {
 public:
  /// Sends an interim head (1xx), which is HTTP/1 text. Fails if no byte is accepted for `idle`;
  /// every later send then fails, too.
  virtual Task<ErrorCode> send_interim(std::string_view head, Duration idle) = 0;
  /// Adds the final head, which is HTTP/1 text. `chunked`: the head does not announce the body's length, but
  /// the client can detect the body's end.
  virtual void add_head(std::string_view head, bool chunked) = 0;
  /// Returns true if another piece can be added before the pieces that were added are sent.
  virtual bool has_room() const = 0;
  /// Adds a piece of the body. It must not be empty.
  virtual void add_piece(std::string_view piece) = 0;
  /// Adds the end of the body with its trailer lines, which are copied.
  virtual void add_end(std::string_view trailers) = 0;
  /// Sends what is accepted at once. Returns false if `send_rest` must follow.
  virtual bool send_now(ErrorCode&) = 0;
  /// Sends everything that was added and not sent yet. Fails if no byte is accepted for `idle`.
  virtual Task<ErrorCode> send_rest(Duration idle) = 0;
  /// Returns true if the last send failed because no byte was accepted for `idle`. Clears the flag.
  virtual bool take_limit_hit() = 0;
  /// Returns how many sent bytes the client's host has not acknowledged. One system call.
  virtual std::uint64_t unacknowledged() = 0;

  /// Returns whether the client still sends, or is gone.
  virtual Presence presence() = 0;
  /// Sets the error code with which an HTTP/2 client learns that the response breaks off (row M40). Over
  /// HTTP/1, does nothing.
  virtual void break_with(policy::Http2Code) = 0;
  /// Ends the response so that the client does not take it for complete.
  virtual void cut() = 0;
  /// Returns the plain socket to which the rest of the body is written without any framing. Null if the rest
  /// is encrypted or framed.
  virtual Stream* socket() = 0;

 protected:
  ~ClientEnd() = default;
};

}  // namespace reprise::net
