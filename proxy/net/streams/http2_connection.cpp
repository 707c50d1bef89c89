#include "proxy/net/streams/http2_connection.hpp"

#include <boost/asio/co_spawn.hpp>

#include "proxy/net/io/http2_error.hpp"
#include "proxy/net/io/lingering_close.hpp"
#include "proxy/net/streams/http2_stream.hpp"

namespace reprise::net {

ErrorCode error_of(const http::Http2Failure& failure) {
  using Kind = http::Http2Failure::Kind;
  if (failure.kind == Kind::closed) return asio::error::eof;
  if (failure.kind == Kind::malformed) return Http2Error::malformed;
  if (failure.code == policy::Http2Code::http_1_1_required) return Http2Error::needs_http1;
  if (failure.kind == Kind::above_last_id) return Http2Error::above_last_id;
  return failure.code == policy::Http2Code::refused_stream ? Http2Error::refused : Http2Error::reset;
}

Http2Connection::Http2Connection(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

Http2Connection::~Http2Connection() = default;

void Http2Connection::start(std::string_view early) {
  // A small message does not wait behind megabytes of a large one that the peer reads slowly (row M44).
  constexpr int most_unsent = 131'072;
  stream_->limit_unsent(most_unsent);
  stream_->end_limit();
  if (!early.empty()) receive(early);
  flush();
  asio::co_spawn(executor(), read(shared_from_this()), or_abort);
}

Task<void> Http2Connection::read(std::shared_ptr<Http2Connection> self) {
  self->reads_ = true;
  while (!self->closed_) {
    // Borrows a read buffer only when bytes have arrived, so that idle connections hold no buffer.
    if (const ErrorCode error = co_await self->stream_->wait_readable()) {
      self->fail(error, true);
      break;
    }
    const Block block(block_bytes);
    const auto [error, bytes] = co_await self->stream_->read_some(asio::buffer(block.data(), block.size()));
    if (error == asio::error::eof && self->outlives_fin()) {
      self->wire().input_ended();
      self->wake_all();
      self->changed();
      self->reads_ = false;
      break;
    }
    if (error) {
      self->fail(error, true);
      break;
    }
    self->receive({block.data(), bytes});
    self->flush();
    self->wake_changed();
    self->changed();
  }
  if (!self->lingers_) co_return;
  Buffer discarded;
  co_await lingering_close(*self->stream_, discarded, self->linger());
  self->lingers_ = false;
  self->changed();
}

void Http2Connection::flush() {
  if (!writing_ && !closed_) send_now();
  // A peer that violates the protocol and does not read would never get the GOAWAY.
  if (writing_ && !closed_ && wire().is_ending()) fail(Http2Error::malformed, true);
}

// Returns false if the kernel has taken only a part. The rest must then wait until the socket is writable.
bool Http2Connection::send_some() {
  for (;;) {
    const std::string_view bytes = wire().output();
    if (bytes.empty()) return true;
    Gather pieces;
    pieces.add(bytes);
    if (stream_->is_sealed()) wire().write_begins(bytes.size());
    const ErrorCode error = stream_->write_now(pieces);
    std::size_t left = 0;
    for (const asio::const_buffer& part : pieces.parts()) left += part.size();
    wire().written(bytes.size() - left);
    if (error) fail(error, true);
    if (error || left > 0) return closed_;
  }
}

void Http2Connection::send_now() {
  if (!send_some()) {
    writing_ = true;
    asio::co_spawn(executor(), write_rest(shared_from_this()), or_abort);
    return;
  }
  if (closed_) return;
  wake_changed();
  // If the peer violated the protocol, the connection fails only here: the GOAWAY has now been sent.
  if (wire().failure()) fail(error_of(*wire().failure()), false);
}

Task<void> Http2Connection::write_rest(std::shared_ptr<Http2Connection> self) {
  const ErrorCode error = co_await self->stream_->wait_writable(policy::no_limit);
  self->writing_ = false;
  if (self->closed_) co_return;
  if (error) {
    self->fail(error, true);
    co_return;
  }
  self->flush();
  self->wake_all();
}

void Http2Connection::fail(const ErrorCode& error, bool by_peer) {
  if (closed_) return;
  closed_ = true;
  error_ = error;
  wire().connection_ended();
  lingers_ = !by_peer && reads_ && linger() > Duration::zero();
  if (lingers_) {
    stream_->finish_sending();
    stream_->end_read();
  } else {
    stream_->cancel();
    stream_->close();
  }
  wake_all();
  changed();
}

void Http2Connection::close() {
  if (closed_) return;
  wire().say_goodbye();
  // What the kernel does not take now is not sent.
  if (!writing_) send_some();
  fail(asio::error::operation_aborted, false);
}

void Http2Connection::wake_changed() {
  for (const http::StreamId id : wire().take_changed()) {
    const auto place = streams_.find(id);
    if (place != streams_.end()) place->second->wake();
  }
}

void Http2Connection::wake_all() {
  for (const auto& [id, stream] : streams_) stream->wake();
}

}  // namespace reprise::net
