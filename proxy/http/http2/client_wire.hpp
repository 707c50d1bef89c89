// The protocol state of one HTTP/2 connection of a client, without I/O: converts bytes to requests and
// responses to bytes.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/http/http2/frame_budget.hpp"
#include "proxy/http/http2/frame_heads.hpp"
#include "proxy/http/http2/request_text.hpp"
#include "proxy/http/http2/wire.hpp"

namespace reprise::http {

/// The client opens the streams; its messages are requests.
class ClientWire final : public Wire {
 public:
  struct Limits {
    HeadLimits heads;             ///< of each request head
    std::uint32_t streams = 100;  ///< streams that were not released; a further one is refused (row M99)
  };

  /// Queues the SETTINGS. `form`: the form of the targets in the heads. `memory`: allows larger windows of
  /// streams.
  ClientWire(TargetForm form, const Limits& limits, StreamMemory& memory);

  /// Processes bytes of the client, from the preface on. `now` never goes back.
  void receive(std::string_view bytes, policy::Instant now);
  /// Returns the streams that have begun since the last call, in order of their heads. A stream that was
  /// reset in the same input is left out, and was released (row M92). A head that is too
  /// large is empty, and its owner should respond.
  std::vector<StreamId> take_begun();
  /// Returns why requests were malformed since the last call. Their streams were reset, and never begin.
  std::vector<Rejection> take_malformed() { return std::exchange(malformed_, {}); }
  /// Returns the kind of frames because of which the connection has failed; nothing if it has not.
  const std::optional<policy::Http2Flood>& flood() const { return flood_; }

  /// Returns when the head or trailers began to arrive that are not complete yet; nothing if there are none.
  const std::optional<policy::Instant>& head_since() const { return head_since_; }

  /// Returns true if the request of a stream that has begun, and whose head was not taken, is a CONNECT.
  bool is_connect(StreamId id) const { return stream(id).message.heads.starts_with("CONNECT "); }

  /// Returns the protocol that the request of a stream that has begun asks for in `:protocol` (row M12).
  ConnectProtocol connect_protocol(StreamId id) const { return stream(id).message.protocol; }

  /// Queues an interim head. Does nothing if the stream is closed.
  void send_interim(StreamId, const FieldBlock&);
  /// Queues the final head. `whole`: the response has no body. Does nothing if the stream is closed.
  void respond(StreamId, const FieldBlock&, bool whole);
  /// Queues a GOAWAY that still allows every stream, and a PING (row M64).
  void announce_goodbye();
  /// Returns true once the client has acknowledged the PING of `announce_goodbye`. All streams that it opened
  /// before it knew of the GOAWAY have arrived by then.
  bool goodbye_is_known() const { return goodbye_is_known_; }

 private:
  void begin_block(StreamId) override;
  void add_field(std::string_view name, std::string_view value, bool never_indexed) override;
  void refuse_field(std::string_view name, std::string_view value) override;
  void end_block(StreamId, bool ends) override;
  void refuse_block(StreamId) override;
  void note_unread_acks() override { note_flood(policy::Http2Flood::unread_acks); }
  void data_framed(std::size_t bytes) override;
  void goaway_framed() override;
  void take_ping_ack() override { goodbye_is_known_ = goodbye_is_known_ || pings_; }
  void reset_framed() override;

  void take_frame(const FrameHead&);
  void judge_id(const FrameHead&);
  void judge_head_block(const FrameHead&);
  void note_flood(policy::Http2Flood kind) { flood_ = flood_.value_or(kind); }
  void violate(Http2Code code) { violation_ = violation_.value_or(code); }
  void begin_stream(StreamId, std::optional<Rejection> too_large);
  void spend(FrameBudget&, policy::Http2Flood);

  const Limits limits_;
  RequestText block_;    ///< the header block that is being decoded
  StreamId opened_ = 0;  ///< stream whose head is being decoded; 0: the block is of another kind, or skipped
  StreamId newest_ = 0;  ///< highest id of a stream that the client has opened
  std::vector<StreamId> begun_;
  std::vector<Rejection> malformed_;
  FrameBudget resets_{1000, 33};
  FrameBudget empty_frames_{2000, 200};
  /// Frames that the DATA frames of the responses account for, see `data_framed`.
  std::size_t free_frames_ = 0;
  policy::Instant now_{};
  std::optional<policy::Http2Flood> flood_;
  /// A stream that the client has ended.
  struct Ended {
    StreamId stream = 0;
    bool by_reset = false;
  };
  std::array<Ended, 64> ended_{};  ///< the newest of them; libnghttp2 forgets closed streams
  std::size_t ended_next_ = 0;
  /// First and last of the newest ids that the client has skipped. They are closed (RFC 9113 5.1.1).
  std::deque<std::pair<StreamId, StreamId>> skipped_;
  StreamId highest_ = 0;      ///< highest id in a HEADERS frame
  StreamId known_up_to_ = 0;  ///< `highest_` before the current input
  FrameHeads frames_{NGHTTP2_CLIENT_MAGIC_LEN};
  std::uint64_t block_bytes_ = 0;  ///< of the newest header block, compressed
  unsigned block_frames_ = 0;      ///< frames of the newest header block
  bool block_ends_ = false;        ///< the newest header block has no further frame
  std::optional<policy::Instant> head_since_;
  std::optional<Http2Code> violation_;  ///< the first one that libnghttp2 does not find
  bool says_goodbye_ = false;
  bool pings_ = false;  ///< the PING of `announce_goodbye` was queued
  bool goodbye_is_known_ = false;
};

}  // namespace reprise::http
