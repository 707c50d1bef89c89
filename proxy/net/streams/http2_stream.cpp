#include "proxy/net/streams/http2_stream.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/http/http2/request_fields.hpp"
#include "proxy/net/io/http2_error.hpp"

namespace reprise::net {

Http2Stream::Http2Stream(std::shared_ptr<Http2Connection> connection, std::string_view scheme)
    : connection_(std::move(connection)),
      scheme_(scheme),
      arrived_(connection_->executor()),
      taken_(connection_->executor()) {}

Http2Stream::~Http2Stream() { forget(); }

void Http2Stream::forget() {
  if (id_ == 0) return;
  sent_ = may_have_sent();
  sent_bytes_ = sent_bytes();
  trailers_ = response().trailers;
  connection_->streams_.erase(id_);
  connection_->wire_.release(id_);
  connection_->flush();
  id_ = 0;
}

std::optional<http::Http2Failure> Http2Stream::failure() const {
  return id_ == 0 ? std::nullopt : response().failure;
}

ErrorCode Http2Stream::error() const {
  if (cancelled_) return asio::error::operation_aborted;
  const auto failed = failure();
  if (!failed) return {};
  // If the connection ended, its error is more specific than the failure of the stream.
  if (failed->kind == http::Http2Failure::Kind::closed && connection_->error_) return connection_->error_;
  return error_of(*failed);
}

// `cancel` and `drop` end the sending, too. After a complete response, an upstream may reset the stream to
// say that it needs no more of the request (RFC 9113 8.1, row M41).
ErrorCode Http2Stream::sending_error() const {
  if (sending_ended_ || id_ == 0) return asio::error::operation_aborted;
  if (const ErrorCode failed = error()) return failed;
  const bool is_over = connection_->wire_.closed(id_) && !all_sent();
  return is_over ? ErrorCode(Http2Error::reset) : ErrorCode();
}

void Http2Stream::wake() {
  arrived_.cancel();
  taken_.cancel();
}

ErrorCode Http2Stream::open(const RequestOpening& opening) {
  assert(id_ == 0);
  if (cancelled_) return asio::error::operation_aborted;
  http::UpstreamWire& wire = connection_->wire_;
  if (connection_->room() == 0) return Http2Error::no_room;
  head_.assign(opening.head).append(opening.last_lines);
  http::write_request_fields(head_, scheme_, fields_);
  const bool is_empty = opening.body.empty() && opening.trailers.empty();
  id_ = wire.open(fields_, opening.whole && is_empty);
  connection_->streams_.emplace(id_, this);
  if (!opening.body.empty()) wire.send(id_, opening.body);
  if (opening.whole && !is_empty) wire.end(id_, opening.trailers);
  request_ended_ = opening.whole;
  connection_->flush();
  return error();
}

bool Http2Stream::all_sent() const { return id_ != 0 && connection_->wire_.taken(id_); }

Task<ErrorCode> Http2Stream::send_rest(Duration idle) {
  std::uint64_t sent = sent_bytes();
  Instant due = policy::end_of(Tick::now(), idle);
  for (;;) {
    if (const ErrorCode failed = sending_error()) co_return failed;
    if (all_sent()) co_return ErrorCode();
    if (sent_bytes() != sent) {
      sent = sent_bytes();
      due = policy::end_of(Tick::now(), idle);
    }
    if (Tick::now() >= due) {
      send_limit_hit_ = true;
      arrived_.cancel();
      co_return asio::error::timed_out;
    }
    co_await taken_.until(due);
  }
}

Task<ErrorCode> Http2Stream::send_piece(std::string_view piece, Duration idle) {
  if (const ErrorCode failed = sending_error()) co_return failed;
  connection_->wire_.send(id_, piece);
  connection_->flush();
  co_return co_await send_rest(idle);
}

Task<ErrorCode> Http2Stream::send_end(std::string_view trailers, Duration idle) {
  if (const ErrorCode failed = sending_error()) co_return failed;
  if (!std::exchange(request_ended_, true)) {
    connection_->wire_.end(id_, trailers);
    connection_->flush();
  }
  co_return co_await send_rest(idle);
}

void Http2Stream::end_sending() {
  sending_ended_ = true;
  // The unsent piece of the body is the caller's memory, so it must not be read after this call.
  if (id_ != 0) connection_->wire_.stop_sending(id_);
  taken_.cancel();
  end_read();
}

bool Http2Stream::may_have_sent() const { return id_ == 0 ? sent_ : connection_->wire_.may_have_sent(id_); }

std::uint64_t Http2Stream::sent_bytes() const {
  return id_ == 0 ? sent_bytes_ : connection_->wire_.sent_bytes(id_);
}

std::uint64_t Http2Stream::unacknowledged() {
  return connection_->closed_ ? 0 : std::min(sent_bytes(), connection_->stream_->unacknowledged());
}

template <typename Condition>
Task<ErrorCode> Http2Stream::wait_to_read(Condition holds) {
  reading_ = true;
  read_ended_ = false;
  ErrorCode result;
  for (;;) {
    if (cancelled_ || read_ended_ || limit_hit_ || send_limit_hit_) {
      result = asio::error::operation_aborted;
      break;
    }
    if (holds()) break;
    result = error();
    if (result) break;
    const Instant due = read_due_.value_or(Instant::max());
    if (Tick::now() >= due) {
      limit_hit_ = true;
    } else {
      co_await arrived_.until(due);
    }
  }
  reading_ = false;
  co_return result;
}

ReadTask Http2Stream::read_some(asio::mutable_buffer into) {
  // A response whose body is already known to be malformed is not delivered at all (row M42).
  const auto has_head = [this] {
    const auto failed = failure();
    const bool is_malformed = failed && failed->kind == http::Http2Failure::Kind::malformed;
    return id_ != 0 && !response().heads.empty() && !is_malformed;
  };
  if (const ErrorCode failed = co_await wait_to_read(has_head)) co_return std::tuple(failed, std::size_t{0});
  const std::size_t bytes = connection_->wire_.take_heads(id_, static_cast<char*>(into.data()), into.size());
  co_return std::tuple(ErrorCode(), bytes);
}

void Http2Stream::limit_read(Duration after) { limit_read_until(policy::end_of(Tick::now(), after)); }

void Http2Stream::limit_read_until(Instant due) {
  limit_hit_ = false;
  read_due_ = due;
  arrived_.cancel();
}

void Http2Stream::end_limit() {
  limit_hit_ = false;
  read_due_.reset();
}

void Http2Stream::end_read() {
  read_ended_ = reading_;
  arrived_.cancel();
}

Task<ErrorCode> Http2Stream::wait_readable() {
  co_return co_await wait_to_read([this] { return unread() != Unread::nothing; });
}

Unread Http2Stream::unread() {
  if (id_ == 0) return connection_->is_open() ? Unread::nothing : Unread::closed;
  const http::Http2Message& arrived = response();
  if (!arrived.heads.empty() || !arrived.body.empty()) return Unread::bytes;
  return arrived.ended || arrived.failure ? Unread::closed : Unread::nothing;
}

Task<bool> Http2Stream::wait_for_end() {
  end_limit();
  static_cast<void>(co_await wait_to_read([this] { return id_ != 0 && connection_->wire_.closed(id_); }));
  co_return true;
}

bool Http2Stream::seems_dead(Duration since) {
  return !connection_->closed_ && connection_->stream_->seems_dead(since);
}

void Http2Stream::cancel() {
  cancelled_ = true;
  end_sending();
}

bool Http2Stream::complete() const { return id_ == 0 || (response().ended && response().body.empty()); }

const std::string& Http2Stream::trailers() const { return id_ == 0 ? trailers_ : response().trailers; }

http::Rejection Http2Stream::malformation() const {
  const auto failed = failure();
  return failed && failed->why ? *failed->why : http::Rejection::bad_content_length;
}

void Http2Stream::give_window_back() {
  if (id_ == 0 || piece_.empty()) return;
  piece_.clear();
  connection_->wire_.passed_on(id_);
  connection_->flush();
}

bool Http2Stream::take_at_hand(BodyStep& step, std::string_view& piece) {
  if (id_ != 0 && !response().body.empty()) {
    give_window_back();
    piece_ = connection_->wire_.take_body(id_);
    piece = piece_;
    step = BodyStep::piece;
    return true;
  }
  if (!complete()) return false;
  piece = {};
  step = BodyStep::end;
  return true;
}

Task<BodyStep> Http2Stream::next(Duration idle, std::string_view& piece) {
  return next_until(policy::end_of(Tick::now(), idle), piece);
}

Task<BodyStep> Http2Stream::next_until(Instant due, std::string_view& piece) {
  BodyStep step = BodyStep::end;
  give_window_back();
  limit_read_until(due);
  const ErrorCode failed = co_await wait_to_read([&] { return take_at_hand(step, piece); });
  const bool is_late = take_limit_hit();
  end_limit();
  if (!failed) co_return step;
  piece = {};
  if (is_late) co_return BodyStep::stalled;
  if (failed == Http2Error::malformed) co_return BodyStep::malformed;
  co_return failed == asio::error::eof ? BodyStep::closed : BodyStep::failed;
}

void Http2Stream::drop() {
  piece_.clear();
  forget();
}

}  // namespace reprise::net
