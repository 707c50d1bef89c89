// The byte machine of one HTTP/2 connection to an upstream: bytes and orders in, bytes and responses out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/http/http2/error_code.hpp"
#include "proxy/http/http2/field.hpp"
#include "proxy/http/http2/response_text.hpp"

namespace reprise::http {

/// Why a stream, or the whole connection, ended before a response was complete.
struct Http2Failure {
  enum class Kind : std::uint8_t {
    reset,          ///< the upstream sent RST_STREAM
    above_last_id,  ///< GOAWAY says that the upstream will not process the stream
    malformed,      ///< the upstream violated RFC 9113; `why` is set if a field or head did
    closed,         ///< the connection ended
  };
  Kind kind = Kind::closed;
  Http2Code code = Http2Code::no_error;  ///< of RST_STREAM or GOAWAY
  std::optional<Rejection> why;
};

/// What has arrived on one stream and was not taken yet.
struct Http2Response {
  std::string heads;                    ///< complete heads as HTTP/1 text: interim heads, then the final one
  std::string body;                     ///< bytes of the body
  std::string trailers;                 ///< trailer lines, each with its CRLF
  bool ended = false;                   ///< the response is complete: END_STREAM, and all of Content-Length
  std::optional<Http2Failure> failure;  ///< set at most once, and never after `ended`
};

/// Used by one connection on one thread. Contains no socket, clock or coroutine: the owner reads bytes and
/// passes them to `receive`, and writes what `output` returns. A callback of libnghttp2 only records what
/// happened; nothing is submitted before the whole input was processed.
class UpstreamWire {
 public:
  /// The window of each stream, in bytes: what an upstream may send before the proxy has passed it on.
  static constexpr std::uint32_t stream_window = 256 * 1024;
  /// The window of the connection. Bytes are given back when they arrive, so no stream can stop another (row
  /// M104).
  static constexpr std::uint32_t connection_window = 16 * 1024 * 1024;

  /// Queues the preface and the SETTINGS. `limits`: of each response head.
  explicit UpstreamWire(const HeadLimits& limits);
  ~UpstreamWire();
  UpstreamWire(const UpstreamWire&) = delete;
  UpstreamWire& operator=(const UpstreamWire&) = delete;

  /// Processes bytes from the upstream. Afterwards `changed` names the streams on which something happened.
  void receive(std::string_view bytes);
  /// Fails every open stream, because the connection has ended.
  void connection_ended();
  /// Returns the streams on which something happened since the last call: something arrived, the stream
  /// ended, or bytes of the request became part of `output`.
  std::vector<StreamId> take_changed();

  /// Returns true once the upstream's SETTINGS have arrived. No stream may be opened before (row M25).
  bool ready() const { return ready_; }
  /// Returns the failure that has ended the connection; nothing while it is usable.
  const std::optional<Http2Failure>& failure() const { return failure_; }
  /// Returns true if the upstream has announced with GOAWAY that it accepts no new stream.
  bool going_away() const { return goaway_.has_value(); }
  /// Returns the code of the last GOAWAY. Precondition: `going_away`.
  Http2Code goaway_code() const { return *goaway_; }
  /// Returns how many more streams may be opened now (row M26). 0 if the connection accepts none.
  std::size_t room() const;
  std::size_t open_streams() const { return streams_.size(); }

  /// Opens a stream and queues the request's head. `whole`: the request has no body. Precondition: `room`.
  StreamId open(const FieldBlock&, bool whole);
  /// Queues a piece of the request's body, which must stay valid until `taken`. It must not be empty.
  /// Precondition: the stream was just opened, or the piece before is `taken`.
  void send(StreamId, std::string_view piece);
  /// Ends the request. `trailers`: trailer lines, each with its CRLF; they are copied.
  void end(StreamId, std::string_view trailers);
  /// Drops the piece that is not framed yet, and sends nothing more of the request. The response can still
  /// arrive.
  void stop_sending(StreamId);
  /// Returns true if the owner has written everything that was queued for the stream.
  bool taken(StreamId) const;
  /// Returns true if the owner has written a byte of the request's head.
  bool may_have_sent(StreamId) const;
  /// Returns how many bytes of the stream's frames the owner has written.
  std::uint64_t sent_bytes(StreamId) const;

  /// Returns what has arrived on the stream. Precondition: the stream was opened and not released.
  Http2Response& response(StreamId);
  /// Takes the bytes of the body, and opens the stream's window for as many.
  std::string take_body(StreamId);
  /// Forgets the stream. If it is not complete on both sides, resets it with CANCEL (row M66).
  void release(StreamId);
  /// Queues GOAWAY(NO_ERROR), before the owner closes the connection.
  void say_goodbye();

  /// Returns bytes to write; empty if there are none. They stay valid until `written`.
  std::string_view output();
  /// Counts that many bytes of `output` as written.
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
  void take_goaway(StreamId last, Http2Code);
  void end_block(StreamId);
  void end_response(StreamId);
  void resume(StreamId, Stream&);

  std::unique_ptr<Session> session_;
  HeadLimits limits_;
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;  ///< opened and not released
  std::size_t active_ = 0;                                         ///< streams that libnghttp2 counts as open
  std::vector<StreamId> changed_;
  std::vector<StreamId> malformed_;  ///< streams to reset once the input was processed
  ResponseText block_;               ///< the header block that is being decoded
  std::string out_;
  std::size_t out_begin_ = 0;
  std::uint64_t framed_ = 0;   ///< bytes that libnghttp2 has framed so far
  std::uint64_t written_ = 0;  ///< how many of these the owner has written
  std::size_t unclaimed_ = 0;  ///< received bytes to be given back to the connection's window
  std::optional<Http2Code> goaway_;
  std::optional<Http2Failure> failure_;
  bool ready_ = false;
};

}  // namespace reprise::http
