// Reads the body of an HTTP/1 message from a stream, and removes the chunk framing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/message/head.hpp"
#include "proxy/net/ends/body_source.hpp"
#include "proxy/net/io/block.hpp"

namespace reprise::net {

/// Reads one body at a time. The first bytes may already be in the buffer of the message head, behind the
/// head. The reader never reads into that buffer, so views into the head stay valid.
class BodyReader final : public BodySource {
 public:
  /// Starts a body. `trailers`: how strictly the trailer section of a chunked body is parsed.
  void begin(Stream& stream, Buffer& behind_head, const http::Framing& framing,
             http::Spelling trailers = http::Spelling::strict);
  /// Updates the address of the buffer that was passed to `begin`, after that buffer has moved.
  void lie_behind(Buffer& behind_head) { behind_head_ = &behind_head; }
  /// Returns the reader's own buffer. After a complete body it holds bytes from beyond the body's end. The
  /// buffer that was passed to `begin` may hold such bytes too; those bytes came earlier.
  Buffer& read_beyond() { return own_; }

  bool complete() const override { return complete_; }
  const std::string& trailers() const override { return decoder_.trailers(); }
  http::Rejection malformation() const override { return malformation_; }
  std::optional<policy::Http2Code> reset_code() const override { return std::nullopt; }
  bool has_surplus() const override { return !behind_head_->empty() || !own_.empty(); }
  std::string_view take_whole() override;
  bool take_at_hand(BodyStep& step, std::string_view& piece) override;
  Task<BodyStep> next(Duration idle, std::string_view& piece) override;
  Task<BodyStep> next_until(Instant due, std::string_view& piece) override;
  OnSocket rest_on_socket() override;
  void skip(std::uint64_t bytes) override;
  void end_read() override { stream_->end_read(); }
  void give_back() override { own_.give_back(); }
  /// Bytes that were read beyond the body move to the buffer that was passed to `begin`, if that buffer is
  /// empty.
  void end() override;
  void drop() override;
  asio::any_io_executor executor() override { return stream_->executor(); }

 private:
  bool chunked() const { return framing_.kind == http::Framing::Kind::chunked; }
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
