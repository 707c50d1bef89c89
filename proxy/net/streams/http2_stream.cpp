#include "proxy/net/streams/http2_stream.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/net/io/http2_error.hpp"

namespace reprise::net {

Http2Stream::Http2Stream(std::shared_ptr<Http2Connection> connection)
    : connection_(std::move(connection)),
      arrived_(connection_->executor()),
      taken_(connection_->executor()) {}

Http2Stream::~Http2Stream() { forget(); }

void Http2Stream::bind(http::StreamId id) {
  assert(id_ == 0);
  id_ = id;
  connection_->streams_.emplace(id, this);
}

void Http2Stream::forget(http::Http2Code code) {
  if (id_ == 0) return;
  sent_ = has_sent();
  sent_bytes_ = bytes_sent();
  trailers_ = message().trailers;
  was_complete_ = complete();
  connection_->streams_.erase(id_);
  wire().release(id_, code);
  flush();
  id_ = 0;
}

std::optional<http::Http2Failure> Http2Stream::failure() const {
  return id_ == 0 ? std::nullopt : message().failure;
}

ErrorCode Http2Stream::error() const {
  if (cancelled_) return asio::error::operation_aborted;
  const auto failed = failure();
  if (!failed) return {};
  // If the connection ended, its error is more specific than the failure of the stream.
  if (failed->kind == http::Http2Failure::Kind::closed && connection_->error_) return connection_->error_;
  return error_of(*failed);
}

// `cancel` and `drop` end the sending, too. After a complete message, the peer may reset the stream to say
// that it needs no more of the own one (RFC 9113 8.1, row M41).
ErrorCode Http2Stream::sending_error() const {
  if (sending_ended_ || id_ == 0) return asio::error::operation_aborted;
  if (const ErrorCode failed = error()) return failed;
  if (is_all_sent()) return ErrorCode();
  // The message of the peer may have been complete before its connection ended.
  if (!connection_->is_open()) return connection_->error_;
  return wire().closed(id_) ? ErrorCode(Http2Error::reset) : ErrorCode();
}

void Http2Stream::wake() {
  arrived_.cancel();
  taken_.cancel();
}

Task<ErrorCode> Http2Stream::wait_until_sent(Duration idle, Instant latest) {
  const unsigned ended_waits = ended_send_waits_;
  std::uint64_t sent = bytes_sent();
  Instant due = std::min(latest, policy::end_of(Tick::now(), idle));
  for (;;) {
    if (const ErrorCode failed = sending_error()) co_return failed;
    if (is_all_sent()) co_return ErrorCode();
    if (wire().is_stuck(id_)) co_return asio::error::connection_reset;
    if (ended_waits != ended_send_waits_) co_return asio::error::operation_aborted;
    if (bytes_sent() != sent) {
      sent = bytes_sent();
      due = std::min(latest, policy::end_of(Tick::now(), idle));
    }
    if (Tick::now() >= due) {
      send_limit_hit_ = true;
      arrived_.cancel();
      co_return asio::error::timed_out;
    }
    co_await taken_.until(due);
  }
}

void Http2Stream::end_send_wait() {
  ++ended_send_waits_;
  taken_.cancel();
}

void Http2Stream::stop_sending() {
  sending_ended_ = true;
  // The unsent piece of the body is the caller's memory, so it must not be read after this call.
  if (id_ != 0) wire().stop_sending(id_);
  taken_.cancel();
  end_read();
}

void Http2Stream::cancel_all() {
  cancelled_ = true;
  stop_sending();
}

void Http2Stream::set_read_limit(Instant due) {
  limit_hit_ = false;
  read_due_ = due;
  arrived_.cancel();
}

void Http2Stream::remove_read_limit() {
  limit_hit_ = false;
  read_due_.reset();
}

void Http2Stream::end_read() {
  read_ended_ = reading_;
  arrived_.cancel();
}

bool Http2Stream::complete() const {
  return id_ == 0 ? was_complete_ : message().ended && message().body.empty();
}

const std::string& Http2Stream::trailers() const { return id_ == 0 ? trailers_ : message().trailers; }

http::Rejection Http2Stream::malformation() const {
  const auto failed = failure();
  return failed && failed->why ? *failed->why : http::Rejection::bad_content_length;
}

std::optional<policy::Http2Code> Http2Stream::reset_code() const {
  const auto failed = failure();
  const bool is_reset = failed && failed->kind == http::Http2Failure::Kind::reset;
  return is_reset ? std::optional(failed->code) : std::nullopt;
}

void Http2Stream::give_window_back() {
  if (id_ == 0 || piece_.empty()) return;
  piece_.clear();
  wire().passed_on(id_);
  flush();
}

bool Http2Stream::take_at_hand(BodyStep& step, std::string_view& piece) {
  if (id_ != 0 && !message().body.empty()) {
    give_window_back();
    piece_ = wire().take_body(id_);
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
  set_read_limit(due);
  const ErrorCode failed = co_await wait_to_read([&] { return take_at_hand(step, piece); });
  const bool is_late = take_read_limit_hit();
  remove_read_limit();
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
