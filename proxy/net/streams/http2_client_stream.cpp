#include "proxy/net/streams/http2_client_stream.hpp"

#include <cassert>

#include "proxy/http/http2/response_fields.hpp"

namespace reprise::net {

using http::Http2Code;

Http2ClientStream::Http2ClientStream(std::shared_ptr<Http2ClientConnection> connection, http::StreamId id)
    : Http2Stream(connection), connection_(std::move(connection)) {
  bind(id);
}

Http2ClientStream::~Http2ClientStream() {
  // A response that the client's window has cut must not look as if it had ended in order (rows M40 and M98).
  const Http2Code unsent = complete_ ? Http2Code::cancel : break_code_;
  forget(complete_ && is_all_sent() ? Http2Code::no_error : unsent);
}

std::string Http2ClientStream::take_head() {
  std::string head(message().heads.size(), '\0');
  wire().take_heads(id(), head.data(), head.size());
  return head;
}

Task<ErrorCode> Http2ClientStream::send_interim(std::string_view head, Duration idle) {
  if (const ErrorCode failed = sending_error()) co_return failed;
  add_interim(head);
  co_return co_await wait_until_sent(idle);
}

void Http2ClientStream::add_interim(std::string_view head) {
  if (sending_error()) return;
  http::write_response_fields(head, fields_);
  connection_->wire_.send_interim(id(), fields_);
  flush();
}

void Http2ClientStream::add_head(std::string_view head, bool) {
  assert(head_.empty());
  head_ = head;
}

void Http2ClientStream::add_piece(std::string_view piece) {
  assert(piece_.empty());
  piece_ = piece;
}

void Http2ClientStream::add_end(std::string_view trailers) {
  ends_ = true;
  response_trailers_ = trailers;
}

bool Http2ClientStream::send_now(ErrorCode& error) {
  error = sending_error();
  const std::string_view head = std::exchange(head_, {});
  const std::string_view piece = std::exchange(piece_, {});
  const bool ends = std::exchange(ends_, false);
  if (error) return true;
  const bool whole = ends && piece.empty() && response_trailers_.empty();
  if (!head.empty()) {
    http::write_response_fields(head, fields_);
    connection_->wire_.respond(id(), fields_, whole);
  }
  if (!piece.empty()) wire().send(id(), piece);
  if (ends && !(whole && !head.empty())) wire().end(id(), response_trailers_);
  complete_ = complete_ || ends;
  flush();
  error = sending_error();
  return error || is_all_sent();
}

Task<ErrorCode> Http2ClientStream::send_rest(Duration idle) {
  ErrorCode error;
  if (!head_.empty() || !piece_.empty() || ends_) {
    if (send_now(error)) co_return error;
  }
  error = co_await wait_until_sent(idle);
  if (error == asio::error::timed_out) break_code_ = Http2Code::cancel;  // row M98
  co_return error;
}

Presence Http2ClientStream::presence() {
  // After a complete request, a reset of the client is no failure of its message.
  const bool is_reset = failure() || (is_open() && wire().closed(id()) && !complete_);
  if (is_reset || !connection_->is_open()) return Presence::reset;
  // After the FIN, the connection reads no more, so that a reset is seen only here.
  return connection_->is_finished() ? connection_->presence() : Presence::present;
}

// NO_ERROR would make a part look like the whole response, and REFUSED_STREAM says that nothing was done.
void Http2ClientStream::break_with(Http2Code code) {
  const bool misleads = code == Http2Code::no_error || code == Http2Code::refused_stream;
  break_code_ = misleads ? Http2Code::internal_error : code;
}

void Http2ClientStream::cut() { forget(break_code_); }

}  // namespace reprise::net
