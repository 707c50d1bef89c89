#include "proxy/net/streams/http2_connection.hpp"

#include <boost/asio/co_spawn.hpp>

#include "proxy/net/io/http2_error.hpp"
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

std::shared_ptr<Http2Connection> Http2Connection::begin(std::unique_ptr<Stream> stream,
                                                        const http::HeadLimits& limits,
                                                        http::StreamMemory& memory, std::string_view early) {
  auto connection = std::make_shared<Http2Connection>(std::move(stream), limits, memory);
  connection->stream_->end_limit();
  if (!early.empty()) connection->wire_.receive(early);
  connection->flush();
  asio::co_spawn(connection->executor(), read(connection), or_abort);
  return connection;
}

Http2Connection::Http2Connection(std::unique_ptr<Stream> stream, const http::HeadLimits& limits,
                                 http::StreamMemory& memory)
    : stream_(std::move(stream)), wire_(limits, memory) {}

Http2Connection::~Http2Connection() = default;

Task<ErrorCode> Http2Connection::ready(Instant due, Pause& wait) {
  while (!is_decided()) {
    if (Tick::now() >= due) co_return asio::error::timed_out;
    waits_for_settings_ = &wait;
    co_await wait.until(due);
    waits_for_settings_ = nullptr;
    if (!is_decided() && Tick::now() < due) co_return asio::error::operation_aborted;
  }
  // Bytes that are not HTTP/2 are most likely another protocol (row M21).
  const bool is_malformed = wire_.failure() && wire_.failure()->kind == http::Http2Failure::Kind::malformed;
  if (!wire_.ready() && is_malformed) co_return Http2Error::not_http2;
  if (closed_) co_return error_;
  co_return ErrorCode();
}

Task<void> Http2Connection::read(std::shared_ptr<Http2Connection> self) {
  while (!self->closed_) {
    // Borrows a read buffer only when bytes have arrived, so that idle connections hold no buffer.
    if (const ErrorCode error = co_await self->stream_->wait_readable()) {
      self->fail(error);
      break;
    }
    const Block block(block_bytes);
    const auto [error, bytes] = co_await self->stream_->read_some(asio::buffer(block.data(), block.size()));
    if (error) {
      self->fail(error);
      break;
    }
    self->wire_.receive({block.data(), bytes});
    self->flush();
    self->wake_changed();
    if (self->waits_for_settings_ != nullptr && self->is_decided()) self->waits_for_settings_->cancel();
    self->tell_listener();
  }
}

void Http2Connection::tell_listener() {
  const std::function<void()> listener = listener_;  // the listener may set another one
  if (listener) listener();
}

void Http2Connection::flush() {
  if (writing_ || closed_) return;
  send_now();
}

// Returns false if the kernel has taken only a part. The rest must then wait until the socket is writable.
bool Http2Connection::send_some() {
  for (;;) {
    const std::string_view bytes = wire_.output();
    if (bytes.empty()) return true;
    Gather pieces;
    pieces.add(bytes);
    if (stream_->is_sealed()) wire_.write_begins(bytes.size());
    const ErrorCode error = stream_->write_now(pieces);
    std::size_t left = 0;
    for (const asio::const_buffer& part : pieces.parts()) left += part.size();
    wire_.written(bytes.size() - left);
    if (error) fail(error);
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
  // If the upstream violated the protocol, the connection fails only here: the GOAWAY has now been sent.
  if (wire_.failure()) fail(error_of(*wire_.failure()));
}

Task<void> Http2Connection::write_rest(std::shared_ptr<Http2Connection> self) {
  const ErrorCode error = co_await self->stream_->wait_writable(policy::no_limit);
  self->writing_ = false;
  if (self->closed_) co_return;
  if (error) {
    self->fail(error);
    co_return;
  }
  self->send_now();
  self->wake_all();
}

void Http2Connection::fail(const ErrorCode& error) {
  if (closed_) return;
  closed_ = true;
  error_ = error;
  wire_.connection_ended();
  stream_->cancel();
  stream_->close();
  if (waits_for_settings_ != nullptr) waits_for_settings_->cancel();
  wake_all();
  tell_listener();
}

void Http2Connection::close() {
  if (closed_) return;
  wire_.say_goodbye();
  // What the kernel does not take now is not sent.
  if (!writing_) send_some();
  fail(asio::error::operation_aborted);
}

void Http2Connection::wake_changed() {
  for (const http::StreamId id : wire_.take_changed()) {
    const auto place = streams_.find(id);
    if (place != streams_.end()) place->second->wake();
  }
}

void Http2Connection::wake_all() {
  for (const auto& [id, stream] : streams_) stream->wake();
}

}  // namespace reprise::net
