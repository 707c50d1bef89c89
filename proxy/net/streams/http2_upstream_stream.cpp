#include "proxy/net/streams/http2_upstream_stream.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/http/http2/request_fields.hpp"
#include "proxy/net/io/http2_error.hpp"

namespace reprise::net {

Http2UpstreamStream::Http2UpstreamStream(std::shared_ptr<Http2UpstreamConnection> connection,
                                         std::string_view scheme)
    : Http2Stream(connection), connection_(std::move(connection)), scheme_(scheme) {}

ErrorCode Http2UpstreamStream::open(const RequestOpening& opening) {
  assert(!is_open());
  if (is_cancelled()) return asio::error::operation_aborted;
  http::UpstreamWire& wire = connection_->wire_;
  if (connection_->room() == 0) return Http2Error::no_room;
  head_.assign(opening.head).append(opening.last_lines);
  const bool is_empty = opening.body.empty() && opening.trailers.empty();
  if (is_websocket_) {
    assert(opening.whole && is_empty);
    http::write_websocket_fields(head_, scheme_, fields_, opening.never_indexed);
    bind(wire.open_websocket(fields_));
  } else {
    http::write_request_fields(head_, scheme_, fields_, opening.never_indexed);
    bind(wire.open(fields_, opening.whole && is_empty));
  }
  if (!opening.body.empty()) wire.send(id(), opening.body);
  if (opening.whole && !is_empty) wire.end(id(), opening.trailers);
  request_ended_ = opening.whole;
  flush();
  return error();
}

ErrorCode Http2UpstreamStream::send_now(std::string_view bytes) {
  if (const ErrorCode failed = sending_error()) return failed;
  wire().send(id(), bytes);
  flush();
  return {};
}

void Http2UpstreamStream::finish_sending() {
  if (sending_error()) return;
  wire().end(id(), {});
  flush();
}

Task<ErrorCode> Http2UpstreamStream::send_piece(std::string_view piece, Duration idle) {
  if (const ErrorCode failed = send_now(piece)) co_return failed;
  co_return co_await wait_until_sent(idle);
}

Task<ErrorCode> Http2UpstreamStream::send_end(std::string_view trailers, Duration idle) {
  if (const ErrorCode failed = sending_error()) co_return failed;
  if (!std::exchange(request_ended_, true)) {
    wire().end(id(), trailers);
    flush();
  }
  co_return co_await wait_until_sent(idle);
}

RequestSink::Acknowledged Http2UpstreamStream::acknowledged(std::uint64_t) {
  if (!is_open()) return {true, false};
  const std::uint64_t left = connection_->unacknowledged();
  return {wire().all_acknowledged(id(), left), wire().body_acknowledged(id(), left)};
}

ReadTask Http2UpstreamStream::read_some(asio::mutable_buffer into) {
  // A response whose body is already known to be malformed is not delivered at all (row M42).
  const auto has_head = [this] {
    const auto failed = failure();
    const bool is_malformed = failed && failed->kind == http::Http2Failure::Kind::malformed;
    return is_open() && !message().heads.empty() && !is_malformed;
  };
  if (const ErrorCode failed = co_await wait_to_read(has_head)) co_return std::tuple(failed, std::size_t{0});
  const std::size_t bytes = wire().take_heads(id(), static_cast<char*>(into.data()), into.size());
  co_return std::tuple(ErrorCode(), bytes);
}

Task<ErrorCode> Http2UpstreamStream::wait_readable() {
  co_return co_await wait_to_read([this] { return unread() != Unread::nothing; });
}

Unread Http2UpstreamStream::unread() {
  if (!is_open()) return connection_->is_open() ? Unread::nothing : Unread::closed;
  const http::Http2Message& arrived = message();
  if (!arrived.heads.empty() || !arrived.body.empty()) return Unread::bytes;
  return arrived.ended || arrived.failure ? Unread::closed : Unread::nothing;
}

Task<bool> Http2UpstreamStream::wait_for_end() {
  remove_read_limit();
  // A connection that ends after the whole response gives the stream no failure.
  const auto has_ended = [this] { return is_open() && (wire().closed(id()) || !connection_->is_open()); };
  static_cast<void>(co_await wait_to_read(has_ended));
  co_return true;
}

}  // namespace reprise::net
