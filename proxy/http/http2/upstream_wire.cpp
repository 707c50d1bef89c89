#include "proxy/http/http2/upstream_wire.hpp"

#include <nghttp2/nghttp2.h>

#include <array>
#include <cassert>

#include "proxy/http/http2/library_fields.hpp"

namespace reprise::http {

UpstreamWire::UpstreamWire(const HeadLimits& limits, StreamMemory& memory)
    : Wire(Role::client, memory), limits_(limits) {
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, StreamWindow::least},
       {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
  begin(settings);
}

void UpstreamWire::begin_block(StreamId id) {
  const Stream* const stream = find(id);
  const bool trailers = stream != nullptr && stream->has_final_head;
  block_.begin(trailers ? ResponseText::Section::trailers : ResponseText::Section::head, limits_);
}

void UpstreamWire::end_block(StreamId id, bool) {
  const auto rejection = block_.end();
  Stream* const stream = find(id);
  if (stream == nullptr || stream->message.failure) return;
  const bool is_interim = !rejection && !stream->has_final_head && block_.status() < 200;
  if (rejection || (is_interim && !stream->interims.admit(block_.text().size()))) {
    fail_and_reset(id, {Http2Failure::Kind::malformed, Http2Code::protocol_error, rejection});
  } else if (stream->has_final_head) {
    stream->message.trailers = block_.text();
  } else {
    const bool opens = stream->message.protocol == ConnectProtocol::websocket && block_.status() / 100 == 2;
    stream->message.heads += opens ? switched_websocket(block_.text()) : block_.text();
    stream->has_head = true;
    stream->has_final_head = !is_interim;
  }
  recount(*stream);
  touch(id, *stream);
}

// A later GOAWAY may lower the last id (RFC 9113 6.8). libnghttp2 closes every stream above the last id, also
// one whose response has begun. It sends no further HEADERS after any GOAWAY, so that a stream whose HEADERS
// still wait behind other frames never begins (row M56).
void UpstreamWire::take_goaway(StreamId last, Http2Code code) {
  fail_unprocessed(last, {Http2Failure::Kind::above_last_id, code, {}});
}

std::size_t UpstreamWire::most_streams() const {
  return nghttp2_session_get_remote_settings(library(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

std::size_t UpstreamWire::room() const {
  nghttp2_session* const session = library();
  if (!ready_ || going_away() || failure() || nghttp2_session_check_request_allowed(session) == 0) return 0;
  const std::size_t most = most_streams();
  return most > active_ ? most - active_ : 0;
}

// Before a GOAWAY of the upstream, the library forbids requests only if it is about to end the connection, or
// if all ids are used up.
bool UpstreamWire::was_violated() const {
  constexpr std::uint32_t last_id = 0x7fffffff;
  return !going_away() && nghttp2_session_get_next_stream_id(library()) <= last_id &&
         nghttp2_session_check_request_allowed(library()) == 0;
}

bool UpstreamWire::permits_websockets() const {
  return nghttp2_session_get_remote_settings(library(), NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1;
}

StreamId UpstreamWire::open_websocket(const FieldBlock& head) {
  const StreamId id = open(head, false);
  message(id).protocol = ConnectProtocol::websocket;
  return id;
}

StreamId UpstreamWire::open(const FieldBlock& head, bool whole) {
  assert(room() > 0);
  const std::vector<nghttp2_nv> pairs = pairs_of(head);
  nghttp2_data_provider body{};
  body.read_callback = read_piece;
  const StreamId id = nghttp2_submit_request(library(), nullptr, pairs.data(), pairs.size(),
                                             whole ? nullptr : &body, nullptr);
  expect(id);
  add_stream(id);
  ++stream(id).unframed_heads;
  ++active_;
  return id;
}

}  // namespace reprise::http
