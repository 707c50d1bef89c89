#include "proxy/http/http2/client_wire.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "proxy/http/http2/library_fields.hpp"

namespace reprise::http {

using policy::Http2Flood;

namespace {

constexpr std::size_t setting_bytes = 6;
// Above the limit that is announced, libnghttp2 would end the connection. This class refuses the streams.
constexpr std::uint32_t streams_in_library = 1U << 30U;

// Frames other than DATA that may wait to be written (row M94), and how many more for each stream.
constexpr std::size_t most_control_frames = 1000;
constexpr std::size_t frames_of_stream = 4;

// Writes the announced limit of streams into the SETTINGS frame at the front of `frames`.
void announce_streams(std::uint32_t streams, std::string& frames) {
  for (std::size_t at = FrameHeads::head_bytes;; at += setting_bytes) {
    assert(at + setting_bytes <= frames.size());
    if (frames[at] != 0 || frames[at + 1] != NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) continue;
    for (std::size_t i = 0; i < 4; ++i)
      frames[at + 2 + i] = static_cast<char>(streams >> (8 * (3 - i)) & 0xffU);
    return;
  }
}

bool is_about_size(Rejection why) {
  return why == Rejection::header_too_large || why == Rejection::too_many_fields ||
         why == Rejection::target_too_long;
}

}  // namespace

ClientWire::ClientWire(TargetForm form, const Limits& limits, StreamMemory& memory)
    : Wire(Role::server, memory), limits_(limits), block_(form) {
  const std::array<nghttp2_settings_entry, 4> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_in_library},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.heads.bytes)},
       {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
       {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
  begin(settings);
  output();
  announce_streams(limits.streams, unwritten());
}

void ClientWire::receive(std::string_view bytes, policy::Instant now) {
  if (flood_ || violation_) return;  // the GOAWAY waits to be written
  now_ = now;
  known_up_to_ = highest_;
  std::string_view unread = bytes;
  for (FrameHead frame; frames_.next(unread, frame);) take_frame(frame);
  if (block_ends_ && frames_.is_whole()) head_since_.reset();
  // What ends the connection is not processed: libnghttp2 may end it without telling the client why.
  if (!flood_ && !violation_) Wire::receive(bytes);
  const std::size_t most_unread = most_control_frames + frames_of_stream * limits_.streams;
  if (nghttp2_session_get_outbound_queue_size(library()) > most_unread) note_flood(Http2Flood::unread_acks);
  if (failure()) return;
  if (flood_) {
    go_away(Http2Code::enhance_your_calm);
  } else if (violation_) {
    go_away(*violation_);
  }
}

std::vector<StreamId> ClientWire::take_begun() {
  std::vector<StreamId> begun = std::exchange(begun_, {});
  std::erase_if(begun, [this](StreamId id) {
    const bool is_over = closed(id);
    if (is_over) release(id);
    return is_over;
  });
  return begun;
}

void ClientWire::begin_block(StreamId id) {
  opened_ = 0;
  const Stream* const stream = find(id);
  const bool is_new = id > newest_;
  newest_ = std::max(newest_, id);
  if (stream != nullptr) {
    block_.begin(RequestText::Section::trailers, limits_.heads);
  } else if (is_new && !has_said_goodbye() && open_streams() < limits_.streams && !memory_is_used_up()) {
    block_.begin(RequestText::Section::head, limits_.heads);
    opened_ = id;
  } else {
    block_.begin(RequestText::Section::head, limits_.heads);
    if (is_new) reset_later(id, Http2Code::refused_stream);
  }
}

void ClientWire::add_field(std::string_view name, std::string_view value, bool never_indexed) {
  block_.add(name, value, never_indexed);
}

void ClientWire::refuse_field(std::string_view name, std::string_view value) { block_.refuse(name, value); }

void ClientWire::end_block(StreamId id, bool ends) {
  const auto rejection = block_.end(ends);
  if (Stream* const stream = find(id)) {
    if (stream->message.failure) return;
    if (rejection)
      return fail_and_reset(id, {Http2Failure::Kind::malformed, Http2Code::protocol_error, rejection});
    stream->message.trailers = block_.text();
    recount(*stream);
    return touch(id, *stream);
  }
  if (std::exchange(opened_, 0) == 0) return;
  if (rejection && !is_about_size(*rejection)) {
    malformed_.push_back(*rejection);
    return reset_later(id, Http2Code::protocol_error);
  }
  begin_stream(id, rejection);
}

void ClientWire::begin_stream(StreamId id, std::optional<Rejection> too_large) {
  add_stream(id);
  Stream& begun = stream(id);
  begun_.push_back(id);
  begun.has_head = begun.has_final_head = true;
  begun.message.too_large = too_large;
  begun.message.is_call = too_large && block_.begins_call();
  if (too_large) return;
  begun.message.heads = block_.text();
  begun.message.never_indexed = block_.never_indexed();
  begun.message.protocol = block_.protocol();
  recount(begun);
}

// Only a pseudo-field that is missing remains for libnghttp2 to find.
void ClientWire::refuse_block(StreamId id) {
  if (std::exchange(opened_, 0) != id) return;
  malformed_.push_back(block_.end(false).value_or(Rejection::bad_request_line));
}

void ClientWire::take_frame(const FrameHead& frame) {
  if (block_ends_) head_since_.reset();
  switch (frame.type) {
    case NGHTTP2_RST_STREAM: judge_id(frame); return spend(resets_, Http2Flood::resets);
    case NGHTTP2_HEADERS: judge_id(frame); return judge_head_block(frame);
    case NGHTTP2_CONTINUATION: return judge_head_block(frame);
    case NGHTTP2_GOAWAY: return;
    case NGHTTP2_DATA:
      judge_id(frame);
      if (frame.bytes > 0 || frame.has(NGHTTP2_FLAG_END_STREAM)) return;
      break;
    case NGHTTP2_PRIORITY:
      if (frame.stream == 0 || frame.depends_on == frame.stream) violate(Http2Code::protocol_error);
      break;
    case NGHTTP2_PING:
    case NGHTTP2_WINDOW_UPDATE:
      if (free_frames_ == 0) break;
      --free_frames_;
      return;
    default: break;
  }
  spend(empty_frames_, Http2Flood::empty_frames);
}

// libnghttp2 judges the frames of streams that it knows. It ignores those of streams that it has forgotten,
// because frames of a stream that this side has reset may still be on their way.
void ClientWire::judge_id(const FrameHead& frame) {
  constexpr std::size_t most_ranges = 16;
  constexpr StreamId step = 2;  // a client's ids are odd (RFC 9113 5.1.1)
  const StreamId id = frame.stream;
  const bool is_reset = frame.type == NGHTTP2_RST_STREAM;
  const bool is_forgotten = id <= known_up_to_ && nghttp2_session_find_stream(library(), id) == nullptr;
  const bool follows_end = std::any_of(ended_.begin(), ended_.end(), [&](const Ended& ended) {
    return ended.stream == id && (ended.by_reset || is_forgotten);
  });
  if (follows_end && !is_reset) violate(Http2Code::stream_closed);
  if (is_reset || frame.has(NGHTTP2_FLAG_END_STREAM)) ended_[ended_next_++ % ended_.size()] = {id, is_reset};
  if (frame.type != NGHTTP2_HEADERS) return;
  const bool was_skipped = std::any_of(skipped_.begin(), skipped_.end(),
                                       [id](const auto& ids) { return id >= ids.first && id <= ids.second; });
  if (was_skipped) violate(Http2Code::protocol_error);
  if (id - step > highest_) skipped_.emplace_back(highest_ + 1, id - 1);
  if (skipped_.size() > most_ranges) skipped_.pop_front();
  highest_ = std::max(highest_, id);
}

void ClientWire::judge_head_block(const FrameHead& frame) {
  constexpr unsigned most_frames = 9;  // HEADERS and 8 CONTINUATION
  constexpr std::uint64_t compressed_times = 4;
  if (frame.type == NGHTTP2_HEADERS) {
    block_bytes_ = block_frames_ = 0;
    head_since_ = now_;
  }
  block_ends_ = frame.has(NGHTTP2_FLAG_END_HEADERS);
  block_bytes_ += frame.bytes;
  if (++block_frames_ > most_frames || block_bytes_ > compressed_times * limits_.heads.bytes)
    note_flood(Http2Flood::header_block);
}

// Counts the resets where they leave, because libnghttp2 does not report the resets that it submits.
void ClientWire::reset_framed() {
  if (is_ending() || resets_.spend(now_)) return;
  note_flood(Http2Flood::resets);
  go_away_later(Http2Code::enhance_your_calm);
}

// Each DATA frame allows one PING and two WINDOW_UPDATE frames, because gRPC clients measure their connection
// with a PING whenever data arrives. A client of Go that reads 4 KiB at a time opens both windows for each
// part. `most` is what a client may still send for the bytes that lie in its windows, such as 4 MiB on 100
// streams.
void ClientWire::data_framed(std::size_t bytes) {
  constexpr std::size_t each = 3;
  constexpr std::size_t bytes_of_update = 2048;
  constexpr std::size_t most = 250'000;
  free_frames_ = std::min(free_frames_ + each + bytes / bytes_of_update, most);
}

void ClientWire::spend(FrameBudget& budget, Http2Flood kind) {
  if (!budget.spend(now_)) note_flood(kind);
}

void ClientWire::send_interim(StreamId id, const FieldBlock& head) {
  if (closed(id)) return;
  const std::vector<nghttp2_nv> pairs = pairs_of(head);
  ++stream(id).unframed_heads;
  expect(
      nghttp2_submit_headers(library(), NGHTTP2_FLAG_NONE, id, nullptr, pairs.data(), pairs.size(), nullptr));
}

void ClientWire::respond(StreamId id, const FieldBlock& head, bool whole) {
  if (closed(id)) return;
  const std::vector<nghttp2_nv> pairs = pairs_of(head);
  nghttp2_data_provider body{};
  body.read_callback = read_piece;
  ++stream(id).unframed_heads;
  expect(nghttp2_submit_response(library(), id, pairs.data(), pairs.size(), whole ? nullptr : &body));
}

void ClientWire::announce_goodbye() {
  if (failure() || std::exchange(says_goodbye_, true)) return;
  expect(nghttp2_submit_shutdown_notice(library()));
}

// libnghttp2 would send the PING before the GOAWAY if both were queued at once.
void ClientWire::goaway_framed() {
  if (!says_goodbye_ || std::exchange(pings_, true)) return;
  expect(nghttp2_submit_ping(library(), NGHTTP2_FLAG_NONE, nullptr));
}

}  // namespace reprise::http
