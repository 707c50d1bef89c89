#include "proxy/net/streams/http2_client_link.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <cassert>
#include <new>

#include "proxy/http/http1/parse.hpp"

namespace reprise::net {

namespace {

constexpr std::size_t most_sent_at_once = 64 * 1024;
constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr int switching_protocols = 101;
// The head was checked when it was read.
constexpr http::HeadLimits no_limits{
    .bytes = std::size_t{1} << 30U, .fields = std::size_t{1} << 20U, .target_bytes = std::size_t{1} << 20U};

void add_key(std::string& request) {
  std::array<unsigned char, 16> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) throw std::bad_alloc();
  request.insert(request.size() - 2, "Sec-WebSocket-Key: " + http::websocket_key(random) + "\r\n");
}

}  // namespace

Http2ClientLink::Http2ClientLink(std::shared_ptr<Http2ClientConnection> connection, http::StreamId id)
    : sender_(std::make_shared<Sender>(std::move(connection), id)) {
  is_websocket_ = end().connect_protocol() == http::ConnectProtocol::websocket;
  request_ = end().take_head();
  if (is_websocket_) add_key(request_);
}

void Http2ClientLink::Sender::finish(http::Http2Code code) {
  is_over = true;
  end.end_read();
  end.reset(code);
}

Task<void> Http2ClientLink::send_last(std::shared_ptr<Sender> sender, http::Http2Code code) {
  const Instant due = Tick::now() + linger_time;
  ErrorCode error;
  do {
    error = co_await sender->end.send_rest_until(due);
    // Only `cancel` has ended the wait, which is for the link's owner.
  } while (error == asio::error::operation_aborted && !sender->is_over && sender->end.connection().is_open());
  if (!sender->is_over) sender->finish(error ? http::Http2Code::cancel : code);
}

// Returns true if bytes are at hand, or nothing more comes. Sets `error` in the second case.
bool Http2ClientLink::take_at_hand(ErrorCode& error) {
  if (is_over()) {
    error = asio::error::operation_aborted;
    return true;
  }
  if (!request_.empty() || !received_.empty()) return true;
  const bool is_answered = has_responded_ && !is_tunnel_ && finished_;
  BodyStep step = BodyStep::end;
  if (!is_answered && !end().take_at_hand(step, received_)) return false;
  if (is_answered || step == BodyStep::end) error = asio::error::eof;
  return true;
}

Task<ErrorCode> Http2ClientLink::wait_readable() {
  const unsigned cancels = cancels_;
  ErrorCode error;
  while (!take_at_hand(error)) {
    const BodyStep step = co_await end().next_until(Instant::max(), received_);
    if (cancels != cancels_) co_return asio::error::operation_aborted;
    if (step != BodyStep::piece && step != BodyStep::end) co_return asio::error::connection_reset;
  }
  co_return ErrorCode();
}

std::size_t Http2ClientLink::read_now(asio::mutable_buffer into, ErrorCode& error) {
  if (!take_at_hand(error))
    error = end().failure() ? asio::error::connection_reset : asio::error::would_block;
  if (error) return 0;
  if (request_.empty()) {
    const std::size_t bytes = asio::buffer_copy(into, asio::buffer(received_));
    received_.remove_prefix(bytes);
    return bytes;
  }
  const std::size_t bytes = asio::buffer_copy(into, asio::buffer(request_));
  request_.erase(0, bytes);
  return bytes;
}

ReadTask Http2ClientLink::read_some(asio::mutable_buffer into) {
  ErrorCode error = co_await wait_readable();
  std::size_t bytes = 0;
  if (!error) bytes = read_now(into, error);
  co_return std::tuple(error, bytes);
}

bool Http2ClientLink::is_sent(ErrorCode& error) {
  if (is_sending_) is_sending_ = !end().send_now(error);
  return !is_sending_;
}

Task<ErrorCode> Http2ClientLink::wait_writable() {
  ErrorCode error;
  if (is_over() || is_sent(error)) co_return error;
  co_return co_await end().send_rest(policy::no_limit);
}

// Takes the response's head from `bytes`, and sends interim heads that precede it. Returns false if the head
// is not complete. Afterwards, `bytes` is what follows the head.
bool Http2ClientLink::take_head(std::string& bytes) {
  response_ += bytes;
  for (;;) {
    const std::size_t end_at = response_.find(end_of_head);
    if (end_at == std::string::npos) return false;
    bytes = response_.substr(end_at + end_of_head.size());
    response_.resize(end_at + end_of_head.size());
    begin_response();
    if (has_responded_) return true;
    response_ = bytes;
  }
}

void Http2ClientLink::begin_response() {
  http::ResponseHead head;
  const std::string_view method = is_websocket_ ? "GET" : "CONNECT";
  const http::Parsed parsed = http::parse_response(response_, no_limits, method, head);
  assert(std::holds_alternative<http::Progress>(parsed));
  if (head.status < 200 && head.status != switching_protocols) return end().add_interim(response_);
  using Kind = http::Framing::Kind;
  const Kind kind = head.framing.kind;
  is_tunnel_ = is_websocket_ ? head.status == switching_protocols : head.status / 100 == 2;
  if (!is_tunnel_ && kind == Kind::chunked) {
    chunks_.emplace();
  } else if (!is_tunnel_ && kind != Kind::until_close) {
    left_ = kind == Kind::length ? head.framing.length : 0;
  }
  if (is_websocket_ && is_tunnel_) response_ = http::opened_websocket(head);
  end().add_head(response_, false);
  has_responded_ = true;
}

// Sets the bytes to send. Sets `is_whole_` if they end the body.
void Http2ClientLink::take_body(std::string_view bytes) {
  if (left_) {
    *left_ -= std::min<std::uint64_t>(*left_, bytes.size());
    is_whole_ = *left_ == 0;
  }
  if (!chunks_) {
    sender_->bytes = bytes;
    return;
  }
  sender_->bytes.clear();
  using State = http::ChunkDecoder::State;
  for (State state = State::data; state == State::data;) {
    const http::ChunkDecoder::Step step = chunks_->step(bytes);
    state = step.state;
    if (state == State::data) sender_->bytes += step.data;
    is_whole_ = state == State::done;
    bytes.remove_prefix(step.consumed);
  }
}

void Http2ClientLink::send_data(std::string_view bytes, ErrorCode& error) {
  take_body(bytes);
  if (!sender_->bytes.empty()) end().add_piece(sender_->bytes);
  if (is_whole_) {
    end().add_end(chunks_ ? std::string_view(chunks_->trailers()) : std::string_view());
    finished_ = true;
  }
  is_sending_ = !end().send_now(error);
}

std::size_t Http2ClientLink::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  if (is_over() || finished_) error = asio::error::broken_pipe;
  if (error || !is_sent(error)) {
    if (!error) error = asio::error::would_block;
    return 0;
  }
  std::string bytes;
  for (const asio::const_buffer& part : parts) {
    const std::size_t room = most_sent_at_once - std::min(most_sent_at_once, bytes.size());
    bytes.append(static_cast<const char*>(part.data()), std::min(room, part.size()));
  }
  const std::size_t taken = bytes.size();
  if (!has_responded_ && !take_head(bytes)) return taken;
  send_data(bytes, error);
  return error ? 0 : taken;
}

void Http2ClientLink::cancel() {
  ++cancels_;
  end().end_read();
  end().end_send_wait();
}

// A response that is not complete must not end in order (row M40).
void Http2ClientLink::finish_sending() {
  if (is_over() || finished_ || !has_responded_) return;
  if (left_ || chunks_) return break_sending();
  finished_ = true;
  end().add_end({});
  ErrorCode ignored;
  is_sending_ = !end().send_now(ignored);
}

void Http2ClientLink::break_sending() {
  if (is_over() || broken_) return;
  broken_ = true;
  finished_ = true;
  ErrorCode error;
  if (is_sent(error)) return cut();
  asio::co_spawn(executor(), send_last(sender_, break_code()), or_abort);
}

void Http2ClientLink::end_now() {
  if (is_over()) return;
  finish_sending();
  if (is_over()) return;
  cancel();
  closed_ = true;
  received_ = {};
  ErrorCode error;
  const bool is_all_sent = is_sent(error);
  if (broken_ && !is_all_sent) return;  // `send_last` runs already
  if (finished_ && !is_all_sent) {
    asio::co_spawn(executor(), send_last(sender_, http::Http2Code::no_error), or_abort);
    return;
  }
  const http::Http2Code code = broken_ ? break_code() : http::Http2Code::no_error;
  sender_->finish(finished_ && !error ? code : http::Http2Code::cancel);
}

void Http2ClientLink::cut() {
  if (is_over()) return;
  cancel();
  received_ = {};
  sender_->finish(break_code());
}

Unread Http2ClientLink::unread() {
  ErrorCode error;
  if (!take_at_hand(error)) return end().failure() ? Unread::closed : Unread::nothing;
  return error ? Unread::closed : Unread::bytes;
}

}  // namespace reprise::net
