// The protocol state of one HTTP/2 connection, without I/O: the base class of ClientWire and UpstreamWire.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/http/http2/field.hpp"
#include "proxy/http/http2/stream_window.hpp"
#include "proxy/http/http2/websocket.hpp"
#include "proxy/http/message/interims.hpp"
#include "proxy/http/message/rejection.hpp"
#include "proxy/policy/decision/http2_code.hpp"

namespace reprise::http {

using policy::Http2Code;

/// Why a stream, or the whole connection, ended before the peer's message was complete.
struct Http2Failure {
  enum class Kind : std::uint8_t {
    reset,  ///< the peer sent RST_STREAM
    /// The upstream's GOAWAY excludes the stream, so the upstream will not process it, unless `responded`.
    above_last_id,
    malformed,  ///< the peer violated RFC 9113; `why` is set if a field or head is malformed
    closed,     ///< the connection ended
  };
  Kind kind = Kind::closed;
  Http2Code code = Http2Code::no_error;  ///< error code of the RST_STREAM or GOAWAY
  std::optional<Rejection> why{};
  bool responded = false;  ///< a response head, possibly an interim one, had arrived before
};

/// The parts of the peer's message that have arrived on one stream and that the owner has not taken yet.
struct Http2Message {
  std::string heads;          ///< complete heads as HTTP/1 text: interim heads, then the final one
  std::string body;           ///< bytes of the body
  std::string trailers;       ///< trailer lines, each with its CRLF
  std::string never_indexed;  ///< names of the fields that arrived as never-indexed, as a list
  /// What the request asks for in `:protocol`. For `websocket`, `heads` lacks a Sec-WebSocket-Key.
  ConnectProtocol protocol = ConnectProtocol::none;
  bool is_call = false;                 ///< `too_large` is set, and the request is a gRPC call
  std::optional<Rejection> too_large;   ///< why a request's head is too large; `heads` is then empty
  bool ended = false;                   ///< the message is complete: END_STREAM, and all of Content-Length
  std::optional<Http2Failure> failure;  ///< set at most once, and never after `ended`
};

/// How many frames with an error code the peer has sent. The items are in the order of Http2Code.
struct Http2CodesReceived {
  std::array<std::uint32_t, policy::count_of<Http2Code>> goaways{};
  std::array<std::uint32_t, policy::count_of<Http2Code>> resets{};  ///< RST_STREAM frames
};

/// Used by one connection on one thread. Contains no socket, clock or coroutine: the owner reads bytes and
/// passes them to `receive`, and writes what `output` returns. While input is processed, callbacks of
/// libnghttp2 only record the event, and frames are submitted afterwards. While output is framed, a callback
/// may submit a frame: the trailers after the last piece, and the PING after a GOAWAY.
class Wire {
 public:
  /// The window of the connection, in bytes. Received bytes reopen this window at once, so no stream can
  /// block another stream (row M104).
  static constexpr std::uint32_t connection_window = 16 * 1024 * 1024;

  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Processes bytes from the peer. Afterwards `take_changed` returns the streams that have changed.
  void receive(std::string_view bytes);
  /// Fails every open stream, because the connection has ended.
  void connection_ended() { fail_connection({Http2Failure::Kind::closed, Http2Code::no_error, {}}); }
  /// Fails every stream whose message is not complete, because the peer has closed its sending side.
  void input_ended();
  /// Returns the streams that have changed since the last call. A stream changes if a part of the peer's
  /// message arrives, if the stream ends, or if bytes of the own message become part of `output`.
  std::vector<StreamId> take_changed();

  /// Returns the failure that has ended the connection; nothing while it is usable.
  const std::optional<Http2Failure>& failure() const { return failure_; }
  /// Returns true if the peer has announced with GOAWAY that it accepts, or opens, no new stream.
  bool going_away() const { return goaway_.has_value(); }
  /// Returns true once a GOAWAY with an error code was queued. The connection fails when it is framed.
  bool is_ending() const { return is_ending_; }
  /// Returns the code of the last GOAWAY. Precondition: `going_away`.
  Http2Code goaway_code() const { return *goaway_; }
  /// Returns the frames with an error code since the last call; nothing if there were none.
  std::optional<Http2CodesReceived> take_codes() { return std::exchange(codes_, std::nullopt); }
  /// Returns how many streams were opened and not released.
  std::size_t open_streams() const { return streams_.size(); }

  /// Queues a piece of the own message's body. The piece must not be empty, and must stay valid until
  /// `all_written` returns true. Precondition: the head was just queued, or `all_written` has returned true
  /// for the last piece.
  void send(StreamId, std::string_view piece);
  /// Ends the own message. `trailers`: trailer lines, each with its CRLF; they are copied.
  void end(StreamId, std::string_view trailers);
  /// Drops the piece that is not framed yet, and sends nothing more of the own message. The peer's message
  /// can still arrive.
  void stop_sending(StreamId);
  /// Returns true if the owner has written everything that was queued for the stream.
  bool all_written(StreamId) const;
  /// Returns true if the stream has ended on both sides, or was reset. Nothing more is sent.
  bool closed(StreamId id) const { return stream(id).closed; }
  /// Returns true if the rest of the own message can never be sent: the peer has closed its sending side, so
  /// it cannot open the windows that hold the rest back. False while
  /// bytes of `output` are unwritten.
  bool is_stuck(StreamId) const;
  /// Returns true if the owner has written a byte of the own message's head, or has begun a write that
  /// includes it.
  bool may_have_sent(StreamId) const;
  /// Returns how many bytes of the stream's frames the owner has written.
  std::uint64_t sent_bytes(StreamId) const;
  /// Returns true if the peer's host has acknowledged every byte of the stream that was written.
  /// `unacknowledged`: the newest bytes of the connection that it has not acknowledged.
  bool all_acknowledged(StreamId id, std::uint64_t unacknowledged) const {
    return std::min(stream(id).end, written_) + unacknowledged <= written_;
  }
  /// Returns true if the peer's host has acknowledged a byte of the own message's body.
  bool body_acknowledged(StreamId, std::uint64_t unacknowledged) const;

  /// Returns what has arrived on the stream. Precondition: the stream was opened and not released.
  Http2Message& message(StreamId id) { return stream(id).message; }
  /// Takes bytes of the heads that have arrived: at most `most` bytes. Returns their number.
  std::size_t take_heads(StreamId, char* into, std::size_t most);
  /// Takes the body bytes that have arrived. They count as held until `passed_on` is called.
  std::string take_body(StreamId);
  /// Reports that all bytes that `take_body` has returned were passed on. Reopens the stream's window by as
  /// many bytes, unless the limit of the memory is reached and the window is larger than the least one.
  void passed_on(StreamId);
  /// Removes the stream. Resets the stream with `code` unless it is complete on both sides.
  void release(StreamId, Http2Code code = Http2Code::cancel);
  /// Resets every open stream.
  void reset_all(Http2Code code);
  /// Queues GOAWAY(NO_ERROR) with the newest stream. Does nothing if it was called before.
  void say_goodbye();

  /// Returns the bytes to write; empty if there are none. The bytes stay valid until `written` is called.
  std::string_view output();
  /// Reports that a write of the first `bytes` bytes of `output` begins, and that these bytes may arrive even
  /// if the write fails. Needed over TLS (row M58).
  void write_begins(std::size_t bytes) { begun_ = written_ + bytes; }
  /// Reports that the owner has written the first `bytes` bytes of `output`.
  void written(std::size_t bytes);
  /// Returns how much memory the output uses.
  std::size_t output_memory() const { return out_.capacity(); }

 protected:
  struct Stream {
    Http2Message message;
    std::string_view piece;                   ///< bytes of the own message's body that are not framed yet
    std::string trailers;                     ///< trailer lines of the own message
    std::size_t unframed_heads = 0;           ///< heads that are queued and not framed
    bool last = false;                        ///< no piece follows `piece`
    bool ended = false;                       ///< END_STREAM of the own message was framed
    bool deferred = false;                    ///< libnghttp2 waits for the next piece
    bool has_head = false;                    ///< a head of the peer has arrived, interim or final
    bool has_final_head = false;              ///< a head that is not interim has arrived
    bool closed = false;                      ///< libnghttp2 has forgotten the stream
    bool changed = false;                     ///< listed in `changed_`
    std::optional<std::uint64_t> begin;       ///< how many bytes were framed before the own head
    std::optional<std::uint64_t> body_begin;  ///< how many bytes were framed before the first DATA frame
    std::uint64_t end = 0;     ///< how many bytes were framed up to the end of the newest frame
    std::uint64_t framed = 0;  ///< bytes of the stream's HEADERS and DATA frames
    Interims interims;         ///< the interim heads that have arrived
    StreamWindow window;

    explicit Stream(std::uint32_t least_window) : window(least_window) {}

    bool receives() const { return !closed && !message.ended && !message.failure; }
  };

  enum class Role : std::uint8_t { client, server };

  /// `memory`: allows larger windows of streams.
  Wire(Role, StreamMemory& memory);
  virtual ~Wire();

  nghttp2_session* library() const { return session_->handle; }
  Stream* find(StreamId);
  const Stream& stream(StreamId) const;
  Stream& stream(StreamId id) { return const_cast<Stream&>(std::as_const(*this).stream(id)); }
  void add_stream(StreamId);
  /// Queues the first frames: SETTINGS, and the window of the connection.
  void begin(std::span<const nghttp2_settings_entry>);
  bool memory_is_used_up() const { return memory_.is_used_up(); }
  void touch(StreamId, Stream&);
  void fail(StreamId, const Http2Failure&);
  /// Fails the stream, and resets it with the failure's code once the input was processed.
  void fail_and_reset(StreamId, const Http2Failure&);
  bool has_said_goodbye() const { return said_goodbye_; }
  /// Queues GOAWAY. With an error code, the connection fails when it is framed.
  void go_away(Http2Code);
  /// Queues GOAWAY with an error code before the next frame is framed. For callbacks.
  void go_away_later(Http2Code code) {
    goes_away_with_ = code;
    is_ending_ = true;
  }
  /// Returns the bytes that were framed and not written.
  std::string& unwritten() { return out_; }
  /// Resets a stream once the input was processed.
  void reset_later(StreamId id, Http2Code code) { resets_.emplace_back(id, code); }
  /// Fails every stream with a higher id, and every stream whose HEADERS were not framed.
  void fail_unprocessed(StreamId last, const Http2Failure&);
  void fail_connection(const Http2Failure&);
  void recount(Stream&);
  /// Reads from `Stream::piece`; the `read_callback` of the messages that a derived class submits.
  static ssize_t read_piece(nghttp2_session*, StreamId, std::uint8_t* into, std::size_t most,
                            std::uint32_t* flags, nghttp2_data_source*, void* wire);

 private:
  /// Hooks of the derived class, called while input is processed. They must not submit frames.
  virtual void begin_block(StreamId) = 0;
  /// `never_indexed`: the field must not be compressed on the next hop either (RFC 7541 6.2.3).
  virtual void add_field(std::string_view name, std::string_view value, bool never_indexed) = 0;
  virtual void refuse_field(std::string_view name, std::string_view value) = 0;
  /// `ends`: END_STREAM follows the block.
  virtual void end_block(StreamId, bool ends) = 0;
  virtual void take_settings() {}
  virtual void take_goaway(StreamId /*last*/, Http2Code /*code*/) {}
  virtual void take_ping_ack() {}
  /// Returns true if the library is known to end the connection because of a violation. Called after input.
  virtual bool was_violated() const { return false; }
  /// The library has found the block malformed. `end_block` is not called, and the stream is reset.
  virtual void refuse_block(StreamId) {}
  /// libnghttp2 no longer counts a stream as open.
  virtual void stream_closed() {}
  /// More than 1,000 acknowledgements of SETTINGS and PING wait to be written. The connection must end.
  virtual void note_unread_acks() { go_away(Http2Code::enhance_your_calm); }
  /// An own DATA frame with this payload, or an own GOAWAY frame, was framed.
  virtual void data_framed(std::size_t /*bytes*/) {}
  virtual void goaway_framed() {}
  /// The wire or libnghttp2 has framed a RST_STREAM because of what the peer has sent. `reset` does not call
  /// this function.
  virtual void reset_framed() {}

  struct Callbacks;
  struct Session {
    nghttp2_session* handle = nullptr;
    StreamId framing = 0;   ///< stream whose HEADERS or DATA frame is being written; else 0
    StreamId decoding = 0;  ///< stream whose header block is being read; else 0

    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();
  };

  Http2CodesReceived& codes() { return codes_ ? *codes_ : codes_.emplace(); }
  /// Queues a RST_STREAM of the owner, which `reset_framed` does not report.
  void reset(StreamId id, Http2Code code) {
    owner_resets_.emplace_back(id, code);
    submit_reset(id, code);
  }
  void submit_reset(StreamId, Http2Code);
  /// A RST_STREAM was framed. Returns true if the owner has queued it. The library frames only the first of
  /// several for one stream, which may be its own.
  bool take_owner_reset(StreamId id, Http2Code code) {
    bool found = false;
    std::erase_if(owner_resets_, [&](const auto& reset) {
      found = found || reset == std::pair(id, code);
      return reset.first == id;
    });
    return found;
  }
  void end_message(StreamId);
  void resume(StreamId, Stream&);
  void change_window(StreamId, Stream&, const StreamWindow::Change&);
  void settle();

  const std::uint32_t least_window_;
  std::unique_ptr<Session> session_;
  StreamMemory& memory_;
  std::int64_t uncounted_ = 0;  ///< change of the held bytes that `memory_` does not know yet
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;  ///< opened and not released
  std::vector<StreamId> changed_;
  std::vector<std::pair<StreamId, Http2Code>> resets_;        ///< to submit once the input was processed
  std::vector<std::pair<StreamId, Http2Code>> owner_resets_;  ///< those of `reset` that were not framed yet
  std::string out_;
  std::size_t out_begin_ = 0;
  bool input_ended_ = false;
  bool said_goodbye_ = false;
  bool is_ending_ = false;                   ///< a GOAWAY with an error code was queued
  std::optional<Http2Code> goes_away_with_;  ///< code of a GOAWAY to queue when the next frame is framed
  std::uint64_t framed_ = 0;                 ///< bytes that libnghttp2 has framed so far
  std::uint64_t begun_ = 0;    ///< how many of the framed bytes may have arrived, if more than `written_`
  std::uint64_t written_ = 0;  ///< how many of the framed bytes the owner has written
  std::size_t unclaimed_ = 0;  ///< received bytes by which the connection's window is still to be reopened
  std::optional<Http2Code> goaway_;
  std::optional<Http2CodesReceived> codes_;
  std::optional<Http2Failure> failure_;
};

/// Aborts if the library reports that a precondition was violated. Throws bad_alloc if memory is exhausted.
void expect(int library_result);

}  // namespace reprise::http
