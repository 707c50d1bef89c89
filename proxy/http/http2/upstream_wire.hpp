// The protocol state of one HTTP/2 connection to an upstream, without I/O: converts requests to bytes and
// bytes to responses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/http/http2/field.hpp"
#include "proxy/http/http2/response_text.hpp"
#include "proxy/http/http2/stream_window.hpp"
#include "proxy/policy/decision/http2_code.hpp"

namespace reprise::http {

using policy::Http2Code;

/// Why a stream, or the whole connection, ended before a response was complete.
struct Http2Failure {
  enum class Kind : std::uint8_t {
    reset,  ///< the upstream sent RST_STREAM
    /// The upstream's GOAWAY excludes the stream, so the upstream will not process it, unless `responded`.
    above_last_id,
    malformed,  ///< the upstream violated RFC 9113; `why` is set if a field or head is malformed
    closed,     ///< the connection ended
  };
  Kind kind = Kind::closed;
  Http2Code code = Http2Code::no_error;  ///< error code of the RST_STREAM or GOAWAY
  std::optional<Rejection> why{};
  bool responded = false;  ///< a response head, possibly an interim one, had arrived before
};

/// The parts of a response that have arrived on one stream and that the owner has not taken yet.
struct Http2Response {
  std::string heads;                    ///< complete heads as HTTP/1 text: interim heads, then the final one
  std::string body;                     ///< bytes of the body
  std::string trailers;                 ///< trailer lines, each with its CRLF
  bool ended = false;                   ///< the response is complete: END_STREAM, and all of Content-Length
  std::optional<Http2Failure> failure;  ///< set at most once, and never after `ended`
};

/// How many frames with an error code the upstream has sent. The items are in the order of Http2Code.
struct Http2CodesReceived {
  std::array<std::uint32_t, policy::count_of<Http2Code>> goaways{};
  std::array<std::uint32_t, policy::count_of<Http2Code>> resets{};  ///< RST_STREAM frames
};

/// Used by one connection on one thread. Contains no socket, clock or coroutine: the owner reads bytes and
/// passes them to `receive`, and writes what `output` returns. A callback of libnghttp2 only records the
/// event. Frames are submitted only after the whole input was processed.
class UpstreamWire {
 public:
  /// The window of the connection, in bytes. Received bytes reopen this window at once, so no stream can
  /// block another stream (row M104).
  static constexpr std::uint32_t connection_window = 16 * 1024 * 1024;

  /// Queues the preface and the SETTINGS. `limits`: the limits for each response head. `memory`: allows
  /// larger windows of streams.
  UpstreamWire(const HeadLimits& limits, StreamMemory& memory);
  ~UpstreamWire();
  UpstreamWire(const UpstreamWire&) = delete;
  UpstreamWire& operator=(const UpstreamWire&) = delete;

  /// Processes bytes from the upstream. Afterwards `take_changed` returns the streams that have changed.
  void receive(std::string_view bytes);
  /// Fails every open stream, because the connection has ended.
  void connection_ended();
  /// Returns the streams that have changed since the last call. A stream changes if a part of its response
  /// arrives, if the stream ends, or if bytes of its request become part of `output`.
  std::vector<StreamId> take_changed();

  /// Returns true once the upstream's SETTINGS have arrived. Until then, no stream may be opened (row M25).
  bool ready() const { return ready_; }
  /// Returns the failure that has ended the connection; nothing while it is usable.
  const std::optional<Http2Failure>& failure() const { return failure_; }
  /// Returns true if the upstream has announced with GOAWAY that it accepts no new stream.
  bool going_away() const { return goaway_.has_value(); }
  /// Returns the code of the last GOAWAY. Precondition: `going_away`.
  Http2Code goaway_code() const { return *goaway_; }
  /// Returns the frames with an error code since the last call; nothing if there were none.
  std::optional<Http2CodesReceived> take_codes() { return std::exchange(codes_, std::nullopt); }
  /// Returns how many more streams may be opened now (row M26). 0 if the connection accepts none.
  std::size_t room() const;
  std::size_t open_streams() const { return streams_.size(); }

  /// Opens a stream and queues the request's head. `whole`: the request has no body. Precondition: `room()`
  /// is not 0.
  StreamId open(const FieldBlock&, bool whole);
  /// Queues a piece of the request's body. The piece must not be empty, and must stay valid until `taken`
  /// returns true. Precondition: the stream was just opened, or `taken` has returned true for the last piece.
  void send(StreamId, std::string_view piece);
  /// Ends the request. `trailers`: trailer lines, each with its CRLF; they are copied.
  void end(StreamId, std::string_view trailers);
  /// Drops the piece that is not framed yet, and sends nothing more of the request. The response can still
  /// arrive.
  void stop_sending(StreamId);
  /// Returns true if the owner has written everything that was queued for the stream.
  bool taken(StreamId) const;
  /// Returns true if the stream has ended on both sides, or was reset. Nothing more of the request is sent.
  bool closed(StreamId) const;
  /// Returns true if the owner has written a byte of the request's head, or has begun a write that includes
  /// it.
  bool may_have_sent(StreamId) const;
  /// Returns how many bytes of the stream's frames the owner has written.
  std::uint64_t sent_bytes(StreamId) const;

  /// Returns what has arrived on the stream. Precondition: the stream was opened and not released.
  Http2Response& response(StreamId);
  /// Takes bytes of the heads that have arrived: at most `most` bytes. Returns their number.
  std::size_t take_heads(StreamId, char* into, std::size_t most);
  /// Takes the body bytes that have arrived. They count as held until `passed_on` is called.
  std::string take_body(StreamId);
  /// Reports that all bytes that `take_body` has returned were passed on. Reopens the stream's window by as
  /// many bytes, unless the limit of the memory is reached and the window is larger than the least one.
  void passed_on(StreamId);
  /// Removes the stream. Resets the stream with CANCEL unless it is complete on both sides (row M66).
  void release(StreamId);
  /// Queues GOAWAY(NO_ERROR), before the owner closes the connection.
  void say_goodbye();

  /// Returns the bytes to write; empty if there are none. The bytes stay valid until `written` is called.
  std::string_view output();
  /// Reports that a write of the first `bytes` bytes of `output` begins, and that these bytes may arrive even
  /// if the write fails. Needed over TLS (row M58).
  void write_begins(std::size_t bytes) { begun_ = written_ + bytes; }
  /// Reports that the owner has written the first `bytes` bytes of `output`.
  void written(std::size_t bytes);

 private:
  struct Stream;
  struct Callbacks;
  struct Session;

  Stream* find(StreamId);
  const Stream& stream(StreamId) const;
  Stream& stream(StreamId id) { return const_cast<Stream&>(std::as_const(*this).stream(id)); }
  void touch(StreamId, Stream&);
  void fail(StreamId, const Http2Failure&);
  void fail_connection(const Http2Failure&);
  Http2CodesReceived& codes();
  void take_goaway(StreamId last, Http2Code);
  void end_block(StreamId);
  void end_response(StreamId);
  void resume(StreamId, Stream&);
  void change_window(StreamId, Stream&, const StreamWindow::Change&);
  void recount(Stream&);
  void settle();

  std::unique_ptr<Session> session_;
  HeadLimits limits_;
  StreamMemory& memory_;
  std::int64_t uncounted_ = 0;  ///< change of the held bytes that `memory_` does not know yet
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;  ///< opened and not released
  std::size_t active_ = 0;                                         ///< streams that libnghttp2 counts as open
  std::vector<StreamId> changed_;
  std::vector<StreamId> malformed_;  ///< streams to reset once the input was processed
  ResponseText block_;               ///< the header block that is being decoded
  std::string out_;
  std::size_t out_begin_ = 0;
  std::uint64_t framed_ = 0;   ///< bytes that libnghttp2 has framed so far
  std::uint64_t begun_ = 0;    ///< how many of the framed bytes may have arrived, if more than `written_`
  std::uint64_t written_ = 0;  ///< how many of the framed bytes the owner has written
  std::size_t unclaimed_ = 0;  ///< received bytes by which the connection's window is still to be reopened
  std::optional<Http2Code> goaway_;
  std::optional<Http2CodesReceived> codes_;
  std::optional<Http2Failure> failure_;
  bool ready_ = false;
};

}  // namespace reprise::http
