// The upstream's end of one attempt: takes a request and returns its response, whatever the HTTP version is.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// The beginning of a request. The views must stay valid until `all_sent`.
struct RequestOpening {
  std::string_view head;             ///< the request line and fields, as HTTP/1 text; `last_lines` follow
  std::string_view last_lines;       ///< the rest of the head; may be empty
  std::string_view body;             ///< the beginning of the body, from byte 0; may be empty
  bool chunked = false;              ///< the head does not announce the length of the body
  bool whole = false;                ///< `body` is the whole body
  std::string_view trailers;         ///< trailer lines of a `whole` body; copied. HTTP/1 needs `chunked`
  std::string_view never_indexed{};  ///< see RequestHead::never_indexed
};

/// Takes one request: its opening, the other pieces of the body, and the end.
class RequestSink {
 public:
  /// Sends what can be sent without waiting. Returns the error of a failed write.
  [[nodiscard]] virtual ErrorCode open(const RequestOpening&) = 0;
  /// Returns true if everything that was given to this object so far has been sent.
  virtual bool all_sent() const = 0;
  /// Sends what `open` has left unsent. Fails if no byte is accepted for `idle`.
  virtual Task<ErrorCode> send_rest(Duration idle) = 0;
  /// Sends another piece of the body. Fails if no byte is accepted for `idle`.
  virtual Task<ErrorCode> send_piece(std::string_view piece, Duration idle) = 0;
  /// Sends the end of the body, with its trailer lines. Does nothing if the opening was `whole`, or if the
  /// length that the head announces ends the body.
  virtual Task<ErrorCode> send_end(std::string_view trailers, Duration idle) = 0;
  /// Ends every pending write, and every later one, with operation_aborted. A pending read ends too; later
  /// reads work.
  virtual void end_sending() = 0;

  /// Sets how long sent bytes may stay unacknowledged. `no_limit`: as long as the system allows.
  virtual void limit_unacknowledged(Duration) = 0;
  /// Allows the upstream to accept no byte for `idle`, because an upstream that reads a body slowly is not
  /// dead.
  virtual void begin_pauses(Duration idle) = 0;
  /// Restores the limit that was in effect before `begin_pauses`.
  virtual void end_pauses() = 0;

  /// Returns true if the upstream may have received a byte of the request.
  virtual bool may_have_sent() const = 0;
  /// Returns how many bytes of the request were accepted by the kernel.
  virtual std::uint64_t sent_bytes() const = 0;
  /// What the upstream's host has acknowledged of the request.
  struct Acknowledged {
    bool all_sent = false;      ///< every byte that was sent
    bool some_of_body = false;  ///< at least one byte of the body
  };
  /// `head_bytes`: size of the head that `open` was given. One system call.
  virtual Acknowledged acknowledged(std::uint64_t head_bytes) = 0;

 protected:
  ~RequestSink() = default;
};

/// Returns one response: its heads as HTTP/1 text, then its body.
class ResponseSource {
 public:
  /// Reads more of the head's text. The result is `eof` if the upstream ended its side.
  virtual ReadTask read_some(asio::mutable_buffer) = 0;
  /// Sets how long a read may take from now on. The limit stays in effect until it is changed.
  virtual void limit_read(Duration after) = 0;
  virtual void limit_read_until(Instant due) = 0;
  /// Removes the read limit after a successful read, even if the limit was hit in the same event loop turn.
  virtual void end_limit() = 0;
  /// Returns true if the last read failed because of its limit. Clears the flag.
  virtual bool take_limit_hit() = 0;
  /// Ends the pending read with operation_aborted. Later reads work.
  virtual void end_read() = 0;

  /// Waits until something can be read, and leaves it unread.
  virtual Task<ErrorCode> wait_readable() = 0;
  /// Peeks at the bytes that the upstream has sent and that were not read yet.
  virtual Unread unread() = 0;
  /// Waits after a complete response until the upstream ends its side, or until `end_read`. Returns false if
  /// the upstream sent something else first.
  virtual Task<bool> wait_for_end() = 0;
  /// Returns why the upstream ended TLS; empty if it has not.
  virtual TlsRefusal refusal() const = 0;
  /// Returns true if the upstream's host acknowledged no byte of the request within `since`, although the
  /// bytes were retransmitted at least twice (row L4). One system call.
  virtual bool seems_dead(Duration since) = 0;

 protected:
  ~ResponseSource() = default;
};

/// Carries one request at a time. `cancel` ends every operation, for good.
class UpstreamEnd : public Cancellable, public RequestSink, public ResponseSource {
 public:
  virtual asio::any_io_executor executor() = 0;

 protected:
  ~UpstreamEnd() = default;
};

}  // namespace reprise::net
