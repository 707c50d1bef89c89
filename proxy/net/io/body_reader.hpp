// Reads one message body from a stream and returns it piece by piece, without the chunk framing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// Result of reading the next piece.
enum class BodyStep : std::uint8_t {
  piece,      ///< bytes were read
  end,        ///< the body is complete
  malformed,  ///< the chunked coding is malformed
  closed,     ///< FIN before the end of the body; over TLS also FIN without close_notify
  failed,     ///< reset or another error
  stalled,    ///< no byte arrived within the read limit
};

/// Reads one body at a time. The first bytes may already be in the buffer of the message head, behind the
/// head. The reader never reads into that buffer, so views into the head stay valid.
class BodyReader {
 public:
  /// Starts a body. `trailers`: how strictly the trailer section of a chunked body is parsed.
  void begin(Stream& stream, Buffer& behind_head, const http::Framing& framing,
             http::Spelling trailers = http::Spelling::strict);
  /// Abandons the body: discards its bytes and the bytes read beyond it, and releases the reader's own
  /// memory.
  void drop();
  /// Updates the address of the buffer that was passed to `begin`, after that buffer has moved.
  void lie_behind(Buffer& behind_head) { behind_head_ = &behind_head; }
  /// Releases the reader's own memory, if no bytes are in it. Invalidates the last piece.
  void give_back() { own_.give_back(); }
  /// Ends the body and releases memory. Bytes that were read beyond the body move to the buffer that was
  /// passed to `begin`, if that buffer is empty.
  void end();

  bool complete() const { return complete_; }
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
  const std::string& trailers() const { return decoder_.trailers(); }
  http::Rejection malformation() const { return malformation_; }
  Stream& stream() { return *stream_; }
  /// Returns true if bytes lie beyond the end of the body: the beginning of the next request, or unsolicited
  /// bytes of an upstream.
  bool has_surplus() const { return !behind_head_->empty() || !own_.empty(); }
  /// Returns the reader's own buffer. After a complete body it holds bytes from beyond the body's end. The
  /// buffer that was passed to `begin` may hold such bytes too; those bytes came earlier.
  Buffer& read_beyond() { return own_; }

  /// Returns how many bytes of a body of known length must still be read from the stream. Returns 0 while
  /// bytes of the body are buffered.
  std::uint64_t counted_left() const;
  /// Counts `bytes` bytes of the body as read, because other code has taken them from the stream.
  void skip(std::uint64_t bytes);
  /// Returns the next piece without any I/O, if one is buffered. `piece` is valid until the next call of
  /// `next`.
  bool take_at_hand(BodyStep& step, std::string_view& piece);
  /// Reads the next piece. The result is `stalled` if no byte arrives for `idle`.
  Task<BodyStep> next(Duration idle, std::string_view& piece);
  /// Reads the next piece. The result is `stalled` if no byte arrives before `due`.
  Task<BodyStep> next_until(Instant due, std::string_view& piece);

 private:
  BodyStep take(Buffer&, std::string_view& piece);
  BodyStep take_counted(Buffer&, std::string_view& piece);
  BodyStep take_chunked(Buffer&, std::string_view& piece);
  BodyStep ended(const ErrorCode&);
  asio::mutable_buffer room();
  Task<BodyStep> read_more(std::string_view& piece);

  Stream* stream_ = nullptr;
  Buffer* behind_head_ = nullptr;
  Buffer own_;
  http::Framing framing_;
  http::ChunkDecoder decoder_;
  http::Rejection malformation_ = http::Rejection::bad_chunk;
  std::uint64_t left_ = 0;
  bool complete_ = true;
};

}  // namespace reprise::net
