#include "proxy/http/http2/wire.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "proxy/http/http2/field_lines.hpp"
#include "proxy/http/http2/library_fields.hpp"

namespace reprise::http {
namespace {

// Output is collected up to this size, so that one write carries many small frames.
constexpr std::size_t output_bytes = 64 * 1024;
// Memory for output that an idle connection keeps.
constexpr std::size_t idle_output_bytes = 1024;
constexpr std::uint64_t frame_head_bytes = 9;
// Size of the HPACK encoder's table. A larger table that the upstream allows is not used (row M97).
constexpr std::size_t hpack_table_bytes = 4096;
// Longest head that can be sent. The limits of the listener are lower.
constexpr std::size_t sent_head_bytes = std::size_t{1} << 20;
constexpr std::uint64_t unlimited = std::uint64_t{1} << 62U;

Http2Code code_of(std::uint32_t code) { return static_cast<Http2Code>(code); }

std::size_t place_of(Http2Code code) { return static_cast<std::size_t>(policy::listed(code)); }

std::string_view view_of(const nghttp2_rcbuf* text) {
  const nghttp2_vec part = nghttp2_rcbuf_get_buf(const_cast<nghttp2_rcbuf*>(text));
  return {reinterpret_cast<const char*>(part.base), part.len};
}

}  // namespace

// The library fails only if memory is exhausted, or if a precondition was violated.
void expect(int result) {
  if (result == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  assert(result >= 0);
}

Wire::Session::~Session() { nghttp2_session_del(handle); }

struct Wire::Callbacks {
  static Wire& wire(void* user) { return *static_cast<Wire*>(user); }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Wire& self = wire(user);
    self.session_->decoding = frame->hd.stream_id;
    self.begin_block(frame->hd.stream_id);
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                       nghttp2_rcbuf* value, std::uint8_t flags, void* user) {
    Wire& self = wire(user);
    const bool never_indexed = (flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0;
    if (self.session_->decoding == frame->hd.stream_id)
      self.add_field(view_of(name), view_of(value), never_indexed);
    return 0;
  }

  // By default, libnghttp2 ignores an invalid field. This proxy rejects the header block that contains it.
  static int on_invalid_header(nghttp2_session*, const nghttp2_frame* frame, nghttp2_rcbuf* name,
                               nghttp2_rcbuf* value, std::uint8_t, void* user) {
    Wire& self = wire(user);
    if (self.session_->decoding == frame->hd.stream_id) self.refuse_field(view_of(name), view_of(value));
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Wire& self = wire(user);
    const StreamId id = frame->hd.stream_id;
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) self.take_settings();
        break;
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) self.take_ping_ack();
        break;
      case NGHTTP2_GOAWAY:
        self.goaway_ = code_of(frame->goaway.error_code);
        ++self.codes().goaways[place_of(*self.goaway_)];
        self.take_goaway(frame->goaway.last_stream_id, *self.goaway_);
        break;
      case NGHTTP2_RST_STREAM:
        ++self.codes().resets[place_of(code_of(frame->rst_stream.error_code))];
        self.fail(id, {Http2Failure::Kind::reset, code_of(frame->rst_stream.error_code), {}});
        break;
      case NGHTTP2_HEADERS:
        self.session_->decoding = 0;
        self.end_block(id, ends);
        if (ends) self.end_message(id);
        break;
      case NGHTTP2_DATA:
        if (ends) self.end_message(id);
        break;
      default: break;
    }
    return 0;
  }

  // Called instead of on_frame if the library finds a header block malformed. It resets the stream itself.
  static int on_invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    Wire& self = wire(user);
    if (frame->hd.type != NGHTTP2_HEADERS || self.session_->decoding != frame->hd.stream_id) return 0;
    self.session_->decoding = 0;
    self.refuse_block(frame->hd.stream_id);
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, StreamId id, const std::uint8_t* data, std::size_t bytes,
                     void* user) {
    Wire& self = wire(user);
    self.unclaimed_ += bytes;
    Stream* const stream = self.find(id);
    if (stream == nullptr || stream->message.failure) return 0;
    // libnghttp2 allows a window of 64 KiB until the peer acknowledges the SETTINGS.
    if (!stream->window.allows(stream->message.body.size() + bytes)) {
      self.fail_and_reset(id, {Http2Failure::Kind::malformed, Http2Code::flow_control_error, {}});
      return 0;
    }
    stream->message.body.append(reinterpret_cast<const char*>(data), bytes);
    self.recount(*stream);
    self.touch(id, *stream);
    return 0;
  }

  static int on_close(nghttp2_session*, StreamId id, std::uint32_t code, void* user) {
    Wire& self = wire(user);
    self.stream_closed();
    Stream* const stream = self.find(id);
    if (stream == nullptr) return 0;
    stream->closed = true;
    self.touch(id, *stream);
    // Without END_STREAM, RST_STREAM or GOAWAY from the peer, libnghttp2 itself has closed the stream,
    // because of a violation.
    if (!stream->message.ended) self.fail(id, {Http2Failure::Kind::malformed, code_of(code), {}});
    return 0;
  }

  static int before_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Wire& self = wire(user);
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR)
      self.fail_connection({Http2Failure::Kind::malformed, code_of(frame->goaway.error_code), {}});
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    self.session_->framing = frame->hd.stream_id;
    Stream* const stream = self.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    if (!stream->begin) stream->begin = self.framed_;
    if (stream->unframed_heads > 0) --stream->unframed_heads;
    return 0;
  }

  static int after_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool carries = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (frame->hd.type == NGHTTP2_DATA) wire(user).data_framed(frame->hd.length);
    if (frame->hd.type == NGHTTP2_GOAWAY) wire(user).goaway_framed();
    if (frame->hd.type == NGHTTP2_RST_STREAM &&
        !wire(user).take_owner_reset(frame->hd.stream_id, code_of(frame->rst_stream.error_code)))
      wire(user).reset_framed();
    if (!carries || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (Stream* const stream = wire(user).find(frame->hd.stream_id)) stream->ended = true;
    return 0;
  }

  static nghttp2_session_callbacks* make() {
    nghttp2_session_callbacks* set = nullptr;
    expect(nghttp2_session_callbacks_new(&set));
    nghttp2_session_callbacks_set_on_begin_headers_callback(set, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(set, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(set, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(set, on_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(set, on_invalid_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(set, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(set, on_close);
    nghttp2_session_callbacks_set_before_frame_send_callback(set, before_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(set, after_frame);
    return set;
  }
};

ssize_t Wire::read_piece(nghttp2_session* session, StreamId id, std::uint8_t* into, std::size_t most,
                         std::uint32_t* flags, nghttp2_data_source*, void* user) {
  Wire& self = *static_cast<Wire*>(user);
  Stream* const stream = self.find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::size_t bytes = std::min(most, stream->piece.size());
  if (bytes == 0 && !stream->last) {
    stream->deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  if (!stream->body_begin) stream->body_begin = self.framed_;
  if (bytes > 0) std::memcpy(into, stream->piece.data(), bytes);
  stream->piece.remove_prefix(bytes);
  if (stream->piece.empty() && stream->last) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!stream->trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      FieldBlock block;
      write_trailer_fields(stream->trailers, block);
      const std::vector<nghttp2_nv> pairs = pairs_of(block);
      expect(nghttp2_submit_trailer(session, id, pairs.data(), pairs.size()));
    }
  }
  self.session_->framing = id;
  return static_cast<ssize_t>(bytes);
}

Wire::Wire(Role role, StreamMemory& memory)
    : least_window_(role == Role::client ? StreamWindow::least : StreamWindow::least_of_client),
      session_(std::make_unique<Session>()),
      memory_(memory) {
  const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)> callbacks(
      Callbacks::make(), nghttp2_session_callbacks_del);
  nghttp2_option* made = nullptr;
  expect(nghttp2_option_new(&made));
  const std::unique_ptr<nghttp2_option, decltype(&nghttp2_option_del)> option(made, nghttp2_option_del);
  nghttp2_option_set_no_auto_window_update(made, 1);
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_option_set_max_deflate_dynamic_table_size(made, hpack_table_bytes);
  nghttp2_option_set_max_send_header_block_length(made, sent_head_bytes);
  // The derived class counts the resets, together with those that it sends (row M92).
  nghttp2_option_set_stream_reset_rate_limit(made, unlimited, unlimited);
  const auto make = role == Role::client ? nghttp2_session_client_new2 : nghttp2_session_server_new2;
  expect(make(&session_->handle, callbacks.get(), this, made));
}

void Wire::begin(std::span<const nghttp2_settings_entry> settings) {
  expect(nghttp2_submit_settings(session_->handle, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  expect(nghttp2_session_set_local_window_size(session_->handle, NGHTTP2_FLAG_NONE, 0, connection_window));
}

Wire::~Wire() {
  for (const auto& [id, stream] : streams_) uncounted_ -= static_cast<std::int64_t>(stream->window.counted());
  settle();
}

Wire::Stream* Wire::find(StreamId id) {
  const auto place = streams_.find(id);
  return place == streams_.end() ? nullptr : place->second.get();
}

void Wire::add_stream(StreamId id) { streams_.emplace(id, std::make_unique<Stream>(least_window_)); }

const Wire::Stream& Wire::stream(StreamId id) const {
  const auto place = streams_.find(id);
  assert(place != streams_.end());
  return *place->second;
}

void Wire::touch(StreamId id, Stream& stream) {
  if (!std::exchange(stream.changed, true)) changed_.push_back(id);
}

std::vector<StreamId> Wire::take_changed() {
  for (const StreamId id : changed_) {
    if (Stream* const changed = find(id)) changed->changed = false;
  }
  return std::exchange(changed_, {});
}

void Wire::fail(StreamId id, const Http2Failure& failure) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->message.ended || stream->message.failure) return;
  stream->message.failure = failure;
  stream->message.failure->responded = stream->has_head;
  recount(*stream);
  touch(id, *stream);
}

void Wire::fail_unprocessed(StreamId last, const Http2Failure& failure) {
  for (const auto& [id, stream] : streams_) {
    if (id > last || !stream->begin) fail(id, failure);
  }
}

void Wire::fail_connection(const Http2Failure& failure) {
  if (failure_) return;
  failure_ = failure;
  for (const auto& [id, stream] : streams_) fail(id, failure);
  settle();
}

void Wire::fail_and_reset(StreamId id, const Http2Failure& failure) {
  fail(id, failure);
  reset_later(id, failure.code);
}

void Wire::end_message(StreamId id) {
  Stream* const stream = find(id);
  if (stream == nullptr || stream->message.failure) return;
  stream->message.ended = true;
  recount(*stream);
  touch(id, *stream);
}

void Wire::receive(std::string_view bytes) {
  if (failure_) return;
  nghttp2_session* const session = session_->handle;
  const auto taken =
      nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  settle();
  if (taken == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (taken == NGHTTP2_ERR_FLOODED) return note_unread_acks();
  if (taken < 0) return fail_connection({Http2Failure::Kind::malformed, Http2Code::protocol_error, {}});
  is_ending_ = is_ending_ || was_violated();
  expect(nghttp2_session_consume_connection(session, std::exchange(unclaimed_, 0)));
  for (const auto& [id, code] : std::exchange(resets_, {})) submit_reset(id, code);
}

void Wire::go_away(Http2Code code) {
  is_ending_ = is_ending_ || code != Http2Code::no_error;
  const StreamId last = nghttp2_session_get_last_proc_stream_id(session_->handle);
  expect(nghttp2_submit_goaway(session_->handle, NGHTTP2_FLAG_NONE, last, static_cast<std::uint32_t>(code),
                               nullptr, 0));
}

void Wire::input_ended() {
  input_ended_ = true;
  for (const auto& [id, stream] : streams_) fail(id, {Http2Failure::Kind::closed, Http2Code::no_error, {}});
  settle();
}

void Wire::resume(StreamId id, Stream& stream) {
  // The stream may have ended meanwhile; then there is nothing to resume.
  if (std::exchange(stream.deferred, false))
    static_cast<void>(nghttp2_session_resume_data(session_->handle, id));
}

void Wire::send(StreamId id, std::string_view piece) {
  Stream& stream = this->stream(id);
  assert(stream.piece.empty() && !stream.last && !piece.empty());
  stream.piece = piece;
  resume(id, stream);
}

void Wire::end(StreamId id, std::string_view trailers) {
  Stream& stream = this->stream(id);
  assert(!stream.last);
  stream.last = true;
  stream.trailers = trailers;
  resume(id, stream);
}

void Wire::stop_sending(StreamId id) {
  Stream& stream = this->stream(id);
  stream.piece = {};
  if (!stream.ended) stream.last = false;
}

bool Wire::all_written(StreamId id) const {
  const Stream& stream = this->stream(id);
  return stream.unframed_heads == 0 && stream.piece.empty() && (!stream.last || stream.ended) &&
         stream.end <= written_;
}

bool Wire::is_stuck(StreamId id) const {
  const Stream& stream = this->stream(id);
  const bool has_more = !stream.piece.empty() || (stream.last && !stream.ended);
  return input_ended_ && has_more && !stream.closed && out_.empty() &&
         nghttp2_session_want_write(session_->handle) == 0;
}

bool Wire::may_have_sent(StreamId id) const {
  const Stream& stream = this->stream(id);
  return stream.begin && std::max(begun_, written_) > *stream.begin;
}

std::uint64_t Wire::sent_bytes(StreamId id) const {
  const Stream& stream = this->stream(id);
  const std::uint64_t unwritten = stream.end > written_ ? stream.end - written_ : 0;
  return stream.framed - std::min(stream.framed, unwritten);
}

bool Wire::body_acknowledged(StreamId id, std::uint64_t unacknowledged) const {
  const std::optional<std::uint64_t>& begin = stream(id).body_begin;
  return begin && *begin + frame_head_bytes + unacknowledged < written_;
}

std::size_t Wire::take_heads(StreamId id, char* into, std::size_t most) {
  Stream& stream = this->stream(id);
  std::string& heads = stream.message.heads;
  const std::size_t bytes = heads.copy(into, most);
  heads.erase(0, bytes);
  recount(stream);
  settle();
  return bytes;
}

std::string Wire::take_body(StreamId id) {
  Stream& stream = this->stream(id);
  stream.window.take(stream.message.body.size());
  return std::exchange(stream.message.body, {});
}

void Wire::passed_on(StreamId id) {
  Stream& stream = this->stream(id);
  const std::size_t bytes = stream.window.pass_on();
  if (bytes == 0) return;
  recount(stream);
  settle();
  if (stream.receives()) change_window(id, stream, stream.window.reopen(bytes, memory_));
}

void Wire::change_window(StreamId id, Stream& stream, const StreamWindow::Change& change) {
  nghttp2_session* const session = session_->handle;
  if (change.by != 0) {
    const auto size = nghttp2_session_get_stream_effective_local_window_size(session, id) + change.by;
    expect(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, id,
                                                 static_cast<std::int32_t>(size)));
  }
  expect(nghttp2_session_consume_stream(session, id, change.consumed));
  recount(stream);
  settle();
}

void Wire::recount(Stream& stream) {
  const Http2Message& message = stream.message;
  uncounted_ += stream.window.recount(message.heads.size() + message.body.size() + message.trailers.size(),
                                      stream.receives());
}

void Wire::settle() {
  if (uncounted_ != 0) memory_.add(std::exchange(uncounted_, 0));
}

void Wire::release(StreamId id, Http2Code code) {
  const Stream& stream = this->stream(id);
  uncounted_ -= static_cast<std::int64_t>(stream.window.counted());
  settle();
  if (!stream.closed && !failure_) reset(id, code);
  streams_.erase(id);
}

void Wire::reset_all(Http2Code code) {
  if (failure_) return;
  for (const auto& [id, stream] : streams_) {
    if (!stream->closed) reset(id, code);
  }
}

void Wire::submit_reset(StreamId id, Http2Code code) {
  expect(
      nghttp2_submit_rst_stream(session_->handle, NGHTTP2_FLAG_NONE, id, static_cast<std::uint32_t>(code)));
}

void Wire::say_goodbye() {
  if (!failure_ && !std::exchange(said_goodbye_, true)) go_away(Http2Code::no_error);
}

std::string_view Wire::output() {
  while (out_.size() - out_begin_ < output_bytes) {
    const std::uint8_t* data = nullptr;
    session_->framing = 0;
    if (goes_away_with_) go_away(*std::exchange(goes_away_with_, std::nullopt));
    const auto bytes = nghttp2_session_mem_send(session_->handle, &data);
    expect(static_cast<int>(bytes));
    if (bytes == 0) break;
    framed_ += static_cast<std::size_t>(bytes);
    if (Stream* const stream = find(session_->framing)) {
      // If there is enough memory, the peer need not wait for a larger window.
      const bool is_first = stream->framed == 0 && stream->receives();
      if (is_first && memory_.is_plentiful())
        change_window(session_->framing, *stream, stream->window.enlarge(memory_));
      stream->framed += static_cast<std::size_t>(bytes);
      stream->end = framed_;
      touch(session_->framing, *stream);
    }
    out_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes));
  }
  return std::string_view(out_).substr(out_begin_);
}

void Wire::written(std::size_t bytes) {
  assert(bytes <= out_.size() - out_begin_);
  out_begin_ += bytes;
  written_ += bytes;
  if (out_begin_ == out_.size()) {
    if (out_.capacity() > idle_output_bytes) {
      std::string().swap(out_);
    } else {
      out_.clear();
    }
    out_begin_ = 0;
  } else if (out_begin_ > output_bytes) {
    out_.erase(0, out_begin_);
    out_begin_ = 0;
  }
}

}  // namespace reprise::http
