// Reads one message body off a stream by its framing and
// hands it out piece by piece, chunk framing taken off.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// How reading the next piece went.
enum class BodyStep : std::uint8_t {
  piece,      ///< bytes were read
  end,        ///< the body is complete
  malformed,  ///< the chunked coding is broken
  closed,     ///< FIN before the end; over TLS also one without close_notify
  failed,     ///< reset or another error
  stalled,    ///< nothing came within the limit
};

/// One body at a time. The first bytes may lie behind the head in the head's own buffer; nothing is read into
/// that one, so views into the head stay good.
class BodyReader {
 public:
  /// `trailers`: how the trailer section of a chunked body may be spelled.
  void begin(Stream& stream, Buffer& behind_head, const http::Framing& framing,
             http::Spelling trailers = http::Spelling::strict);
  /// Forgets the body and what was read beyond it, and gives its own memory back.
  void drop();
  /// The buffer of `begin` has moved.
  void lie_behind(Buffer& behind_head) { behind_head_ = &behind_head; }
  /// Gives the reader's own memory back if nothing is in it; the last piece ends with it.
  void give_back() { own_.give_back(); }
  /// Gives memory back; bytes read beyond the body go to the buffer of `begin` if that is empty.
  void end();

  bool complete() const { return complete_; }
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
  const std::string& trailers() const { return decoder_.trailers(); }
  http::Rejection malformation() const { return malformation_; }
  Stream& stream() { return *stream_; }
  /// True if bytes lie behind the end of the body: of the next request, or sent unasked.
  bool has_surplus() const { return !behind_head_->empty() || !own_.empty(); }
  /// What was read beyond the end of a complete body into memory of the reader's own; more of it may lie in
  /// the buffer of `begin`, and came before.
  Buffer& read_beyond() { return own_; }

  /// Bytes of a body of known length that are still to come from the stream; 0 while some are at hand.
  std::uint64_t counted_left() const;
  /// That many of them were taken from the stream by somebody else.
  void skip(std::uint64_t bytes);
  /// The next piece without any I/O, if one is at hand. `piece` lives until something is read: until `next`.
  bool take_at_hand(BodyStep& step, std::string_view& piece);
  /// Stalled if no byte comes for `idle`.
  Task<BodyStep> next(Duration idle, std::string_view& piece);
  /// Stalled if the next piece is not there at `due`.
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
