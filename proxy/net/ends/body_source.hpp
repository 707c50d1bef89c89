// The body of one message as its receiver reads it, piece by piece, whatever the HTTP version is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message/rejection.hpp"
#include "proxy/net/io/body_step.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/policy/decision/http2_code.hpp"

namespace reprise::net {

/// Used on one thread, by one reader at a time. Pieces are the body's bytes, without any framing.
class BodySource {
 public:
  /// The unread rest of a body that lies on a plain socket and whose length is known.
  struct OnSocket {
    Stream* socket = nullptr;  ///< null: the rest does not lie on a plain socket, or a part of it is buffered
    std::uint64_t bytes = 0;
  };

  /// Returns true once the whole body was read.
  virtual bool complete() const = 0;
  /// Returns the trailer lines, each with its CRLF. Precondition: `complete()`.
  virtual const std::string& trailers() const = 0;
  /// Returns why the last step was `malformed`.
  virtual http::Rejection malformation() const = 0;
  /// Returns the code with which the peer has reset the HTTP/2 stream of the body; nothing if it has not.
  virtual std::optional<policy::Http2Code> reset_code() const = 0;
  /// Returns true if bytes lie beyond the end of the body that do not belong to it.
  virtual bool has_surplus() const = 0;

  /// Returns the whole body if all of it arrived together with its head, and counts it as read. The bytes
  /// stay valid until `end`. Otherwise returns an empty view and does nothing. Call before anything was read.
  virtual std::string_view take_whole() = 0;
  /// Returns the next piece, or the end, without any I/O. If neither is at hand, returns false and changes
  /// nothing. `piece` is valid until the next call of
  /// `next`.
  virtual bool take_at_hand(BodyStep& step, std::string_view& piece) = 0;
  /// Reads the next piece. The result is `stalled` if no byte arrives for `idle`.
  virtual Task<BodyStep> next(Duration idle, std::string_view& piece) = 0;
  /// Reads the next piece. The result is `stalled` if no byte arrives before `due`.
  virtual Task<BodyStep> next_until(Instant due, std::string_view& piece) = 0;

  /// Returns where the unread rest lies, so that other code can move it without reading it.
  virtual OnSocket rest_on_socket() = 0;
  /// Counts `bytes` bytes of the body as read, because other code has taken them from the socket.
  virtual void skip(std::uint64_t bytes) = 0;

  /// Ends the pending read with operation_aborted. Later reads work.
  virtual void end_read() = 0;
  /// Releases the source's own memory, if no bytes are in it. Invalidates the last piece.
  virtual void give_back() = 0;
  /// Ends the body and releases its memory. Bytes that belong to the next message are kept.
  virtual void end() = 0;
  /// Abandons the body: discards its bytes and the bytes read beyond it, and releases memory.
  virtual void drop() = 0;
  virtual asio::any_io_executor executor() = 0;

 protected:
  ~BodySource() = default;
};

}  // namespace reprise::net
