// Reads what the proxy writes on one HTTP/2 connection to an upstream, at the moment of the write. Judges the
// frames, and counts the effects of the requests.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/simulation/book.hpp"
#include "tests/simulation/canary.hpp"
#include "tests/simulation/http2_plan.hpp"
#include "tests/simulation/wire.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::simulation {

/// What a story with HTTP/2 has drawn for all of its connections.
struct Http2Terms {
  bool trusts_refusals = true;          ///< `refused_stream: trust`
  std::size_t connections = 32;         ///< `pool.http2_connections`
  bool has_room = true;                 ///< no fault limits the streams of a connection
  std::uint32_t connection_window = 0;  ///< window of each of the proxy's connections; 0: as in the product
};

/// One request on one stream, as its upstream sees it.
struct RequestStream {
  std::int32_t id = 0;
  unsigned place = 0;  ///< 1 for the first stream of the connection
  Account* account = nullptr;
  std::size_t ride = 0;
  StreamPlan plan;
  bool excluded = false;  ///< a GOAWAY excludes the stream, or will
  bool committed = false;
  std::uint64_t accepted = 0;    ///< bytes of the stream's frames that the proxy has written
  std::uint64_t body_bytes = 0;  ///< bytes of the request's body that the proxy has written
  std::int64_t window = 0;       ///< bytes of DATA that the proxy may still write
  bool request_ended = false;    ///< the proxy has written END_STREAM
  bool response_ended = false;   ///< the upstream has sent END_STREAM
  Instant response_ended_at{};
  bool cancelled = false;  ///< the proxy has written RST_STREAM
  bool was_reset = false;  ///< the upstream has sent RST_STREAM

  bool is_open() const { return !cancelled && !was_reset && !(request_ended && response_ended); }
  Ride& journey() const { return account->rides[ride]; }
};

/// A frame of the proxy that the upstream has not read yet.
struct WrittenFrame {
  play::FrameType type = play::FrameType::data;
  unsigned flags = 0;
  std::int32_t stream = 0;
  std::string payload;    ///< empty for DATA
  std::size_t bytes = 0;  ///< size of the payload
  std::uint64_t end = 0;  ///< number of bytes on the connection up to the end of the frame
};

class Http2Intake {
 public:
  Http2Intake(Seed seed, World& world, Faults& faults, Book& book, const Wire& wire, Canary canary,
              const Http2Terms& terms, const ConnectionPlan& plan);

  /// Accounts for bytes that the proxy has written. `arrive`: false if the bytes are lost on their way.
  void take(std::string_view bytes, bool arrive);
  /// Takes the next frame that ends within the first `bytes` bytes of the connection. Returns false if there
  /// is none.
  bool next(std::uint64_t bytes, WrittenFrame& frame);

  /// Returns the streams by their number. Streams stay after their end.
  const std::map<std::int32_t, std::unique_ptr<RequestStream>>& streams() const { return streams_; }
  /// Returns the stream; null if there was none.
  RequestStream* find(std::int32_t id) const;
  std::size_t open_streams() const;
  std::int32_t last_id() const { return last_id_; }
  /// Returns the number of the stream that came at this place; the last one if there are fewer.
  std::int32_t id_at(unsigned place) const;

  /// Lets the proxy write more DATA on a stream, or on the connection if the stream is 0.
  void grant(std::int32_t stream, std::uint32_t bytes);
  /// Excludes streams above `last`, those that exist and those that come.
  void exclude_above(std::int32_t last);
  /// Notes that the proxy can now read a GOAWAY or a FIN. From the next moment on, no stream may begin.
  void note_leave() { left_at_ = left_at_.value_or(world_.now()); }
  /// Notes that the SETTINGS with the plan's later limit were sent.
  void note_later_limit() { limit_pending_ = true; }

 private:
  void judge(const play::Frame& frame, bool arrive);
  void begin(const play::Frame& frame, bool arrive);
  bool carry(Account& account, bool arrive);
  void judge_head(Account& account, const play::FieldList& fields, const std::string& head);
  void take_data(const play::Frame& frame);
  void take_settings(const play::Frame& frame);
  void count_rest();
  void commit(RequestStream& stream);

  const Seed seed_;
  World& world_;
  Faults& faults_;
  Book& book_;
  const Wire& wire_;
  const Canary canary_;
  const Http2Terms& terms_;
  const ConnectionPlan& plan_;
  play::FrameReader reader_;
  std::map<std::int32_t, std::unique_ptr<RequestStream>> streams_;
  std::deque<WrittenFrame> frames_;
  play::Frame block_;  ///< HEADERS whose header block is not whole
  std::uint64_t taken_ = 0;
  std::int32_t last_id_ = 0;
  std::int64_t window_ = 65'535;        ///< bytes of DATA that the proxy may still write on the connection
  std::optional<std::uint32_t> limit_;  ///< MAX_CONCURRENT_STREAMS that the proxy has acknowledged
  bool limit_pending_ = false;          ///< the SETTINGS with the later limit were sent
  unsigned acknowledged_ = 0;
  std::optional<std::int32_t> excluded_above_;
  std::optional<Instant> left_at_;
};

}  // namespace reprise::simulation
