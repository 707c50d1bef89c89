// One end of an HTTP/2 connection over a blocking socket: a client of the proxy, or an upstream. Sends single
// frames, and collects what arrives on each stream.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "proxy/policy/decision/http2_code.hpp"
#include "tests/support/http2_frames.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::play {

using policy::Http2Code;
using SettingsEntries = std::vector<std::pair<unsigned, std::uint32_t>>;

/// The last stream id of a GOAWAY that excludes no stream.
inline constexpr std::int32_t every_stream = 0x7fffffff;

inline std::uint32_t number_of(Http2Code code) { return static_cast<std::uint32_t>(code); }

/// What has arrived of the message of one stream.
struct Http2Message {
  FieldList fields;                ///< the head; of a response, the final one
  std::vector<FieldList> interim;  ///< heads of interim responses
  FieldList trailers;
  std::string body;
  bool ended = false;
  std::optional<Http2Code> reset;

  static std::string value_of(const FieldList& list, std::string_view name) {
    for (const auto& [key, value] : list)
      if (key == name) return value;
    return "";
  }
  /// Returns the value of the first field with this name; "" if there is none.
  std::string field(std::string_view name) const { return value_of(fields, name); }
  /// Returns the value of the first trailer with this name; "" if there is none.
  std::string trailer(std::string_view name) const { return value_of(trailers, name); }
  /// Returns the status of a response; "" if no head has arrived.
  std::string status() const { return field(":status"); }
  bool over() const { return ended || reset; }
};

/// Acknowledges SETTINGS and PING, and opens the windows by what has arrived, unless a test forbids it.
class Http2End {
 public:
  explicit Http2End(RawSocket& socket) : socket_(socket) {}
  explicit Http2End(RawSocket&& socket)
      : own_(std::make_unique<RawSocket>(std::move(socket))), socket_(*own_) {}
  Http2End(const Http2End&) = delete;
  Http2End& operator=(const Http2End&) = delete;

  RawSocket& socket() { return socket_; }
  void send(std::string_view bytes) { static_cast<void>(socket_.send(bytes)); }
  /// Reads the next frame and accounts for it. Returns false at the end of the connection.
  bool take_frame() {
    Frame frame;
    while (!reader_.next(frame)) {
      if (socket_.received().empty() && !socket_.read_more()) return false;
      reader_.feed(socket_.take_all());
    }
    account_for(frame);
    return true;
  }
  /// Reads frames until `holds` returns true. Returns false if the connection ends before.
  template <typename Condition>
  bool until(Condition holds) {
    while (!holds())
      if (!take_frame()) return false;
    return true;
  }
  /// Waits for the first SETTINGS of the peer. Returns false if the connection ends before.
  bool gets_settings() {
    return until([&] { return settings_seen > 0; });
  }
  /// Waits until the body of a stream has at least so many bytes. Returns false if the connection ends
  /// before.
  bool gets_body(std::int32_t stream, std::size_t bytes) {
    return until([&] { return message(stream).body.size() >= bytes; });
  }
  /// Reads all frames up to the end of the connection.
  void read_to_end() {
    while (take_frame()) {
    }
  }
  /// Sends a PING and waits for its ACK: the peer has then processed every earlier frame.
  bool turn() {
    const unsigned before = pongs;
    send(frame(FrameType::ping, 0, 0, "12345678"));
    return until([&] { return pongs > before; });
  }
  Http2Message& message(std::int32_t stream) { return messages_[stream]; }
  /// Returns the message of a stream, once it has ended or was reset.
  Http2Message& whole(std::int32_t stream) {
    until([&] { return message(stream).over(); });
    return message(stream);
  }
  /// Waits until the head of a stream has arrived or the stream was reset.
  Http2Message& head_of(std::int32_t stream) {
    until([&] { return message(stream).over() || !message(stream).fields.empty(); });
    return message(stream);
  }

  bool acknowledges = true;
  bool opens_windows = true;
  std::vector<std::pair<std::int32_t, Http2Code>> goaways;  ///< last stream id and code
  std::map<unsigned, std::uint32_t> settings_of_peer;
  unsigned settings_seen = 0;
  unsigned pings = 0;
  unsigned pongs = 0;
  std::vector<std::int32_t> heads;  ///< streams of which a head has arrived, in order

 private:
  void account_for(const Frame& frame) {
    switch (frame.type) {
      case FrameType::headers: return take_head(frame);
      case FrameType::data: return take_data(frame);
      case FrameType::settings: return take_settings(frame);
      case FrameType::ping:
        if ((frame.flags & ack) != 0) {
          ++pongs;
        } else {
          ++pings;
          if (acknowledges) send(play::frame(FrameType::ping, ack, 0, frame.payload));
        }
        return;
      case FrameType::goaway:
        goaways.emplace_back(
            read_big_endian(std::string_view(frame.payload).substr(0, 4)),
            static_cast<Http2Code>(read_big_endian(std::string_view(frame.payload).substr(4, 4))));
        return;
      case FrameType::rst_stream:
        message(frame.stream).reset = static_cast<Http2Code>(read_big_endian(frame.payload));
        return;
      default: return;
    }
  }
  void take_head(const Frame& frame) {
    Http2Message& message = messages_[frame.stream];
    FieldList fields = reader_.fields(frame);
    if (Http2Message::value_of(fields, ":status").starts_with("1")) {
      message.interim.push_back(std::move(fields));
    } else if (message.fields.empty()) {
      message.fields = std::move(fields);
      heads.push_back(frame.stream);
    } else {
      message.trailers = std::move(fields);
    }
    message.ended = (frame.flags & end_stream) != 0;
  }
  void take_data(const Frame& frame) {
    Http2Message& message = messages_[frame.stream];
    message.body += frame.payload;
    message.ended = (frame.flags & end_stream) != 0;
    if (!opens_windows || frame.payload.empty()) return;
    const auto bytes = static_cast<std::uint32_t>(frame.payload.size());
    send(window_update(0, bytes) + (message.ended ? "" : window_update(frame.stream, bytes)));
  }
  void take_settings(const Frame& frame) {
    if ((frame.flags & ack) != 0) return;
    ++settings_seen;
    for (std::string_view left = frame.payload; left.size() >= 6; left.remove_prefix(6))
      settings_of_peer[read_big_endian(left.substr(0, 2))] = read_big_endian(left.substr(2, 4));
    if (acknowledges) send(play::frame(FrameType::settings, ack, 0, ""));
  }

  std::unique_ptr<RawSocket> own_;  ///< null if the socket belongs to the caller
  RawSocket& socket_;
  FrameReader reader_;
  std::map<std::int32_t, Http2Message> messages_;
};

/// Makes the fields of a request to this authority.
inline FieldList request_fields(std::string_view method, std::string_view authority,
                                std::string_view path = "/x", const FieldList& more = {}) {
  FieldList fields{{":method", std::string(method)},
                   {":scheme", "http"},
                   {":path", std::string(path)},
                   {":authority", std::string(authority)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

/// A client with prior knowledge of HTTP/2. It sends its preface and its SETTINGS at once.
class Http2Client : public Http2End {
 public:
  explicit Http2Client(std::uint16_t port, const SettingsEntries& entries = {})
      : Http2Client(RawSocket::connect_to(port), entries) {}
  explicit Http2Client(RawSocket&& socket, const SettingsEntries& entries = {})
      : Http2End(std::move(socket)) {
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings(entries));
  }

  /// Sends a request head on a new stream. Returns the stream.
  std::int32_t begin(const FieldList& fields, unsigned flags = 0) {
    const std::int32_t stream = std::exchange(next_, next_ + 2);
    send(headers(stream, fields, flags));
    return stream;
  }
  std::int32_t begin_get(std::string_view authority, std::string_view path = "/x") {
    return begin(request_fields("GET", authority, path), end_stream);
  }
  /// Sends a GET and returns the response.
  Http2Message& get(std::string_view authority, std::string_view path = "/x") {
    return whole(begin_get(authority, path));
  }
  /// Sends a POST with this body and returns the response.
  Http2Message& post(std::string_view authority, std::string_view body, const FieldList& more = {}) {
    const std::int32_t stream = std::exchange(next_, next_ + 2);
    send(headers(stream, request_fields("POST", authority, "/x", more)) + data(stream, body, end_stream));
    return whole(stream);
  }
  std::int32_t next_stream() const { return next_; }

 private:
  std::int32_t next_ = 1;
};

/// The upstream's end of one connection. It sends its SETTINGS at once.
class Http2Upstream : public Http2End {
 public:
  explicit Http2Upstream(RawSocket& socket, const SettingsEntries& entries = {}) : Http2End(socket) {
    send(settings(entries));
  }

  /// Returns the stream of the next whole request, in order of the heads; 0 at the end of the connection.
  std::int32_t next_request() {
    std::int32_t stream = 0;
    until([&] {
      const auto next =
          std::find_if(heads.begin(), heads.end(), [&](auto one) { return message(one).ended; });
      if (next == heads.end()) return false;
      stream = *next;
      heads.erase(next);
      return true;
    });
    return stream;
  }
  /// Returns the stream of the next request head; 0 at the end of the connection.
  std::int32_t next_head() {
    if (!until([&] { return !heads.empty(); })) return 0;
    const std::int32_t stream = heads.front();
    heads.erase(heads.begin());
    return stream;
  }
  /// Sends a whole response.
  void respond(std::int32_t stream, int status, std::string_view body = {}, const FieldList& more = {}) {
    FieldList fields{{":status", std::to_string(status)}};
    fields.insert(fields.end(), more.begin(), more.end());
    if (body.empty()) return send(headers(stream, fields, end_stream));
    send(headers(stream, fields) + data(stream, body, end_stream));
  }
};

/// Returns a script that speaks HTTP/2, and calls `handle` for each whole request.
inline ScriptedUpstream::Script for_each_request(std::function<void(Http2Upstream&, std::int32_t)> handle,
                                                 SettingsEntries entries = {}) {
  return [handle = std::move(handle), entries = std::move(entries)](Peer& peer) {
    Http2Upstream end(peer.socket, entries);
    while (const std::int32_t stream = end.next_request()) handle(end, stream);
  };
}

}  // namespace reprise::play
