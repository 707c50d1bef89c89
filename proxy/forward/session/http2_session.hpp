// Serves the requests of one HTTP/2 connection of a client.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/session/client.hpp"
#include "proxy/forward/session/plan.hpp"
#include "proxy/net/io/pause.hpp"
#include "proxy/net/streams/http2_client_stream.hpp"

namespace reprise::forward {

/// Lives in a coroutine frame, on one io thread. Each stream is served by a coroutine of its own, and the
/// session ends after the last of them.
class Http2Session final : public Client,
                           public IdleClient,
                           public ClientSession,
                           public net::Http2ClientConnection::Owner {
 public:
  /// `inside`: the byte stream that the connection is inside of, if any.
  Http2Session(Worker&, ClientConnection, std::optional<InsideStream> inside);
  ~Http2Session() override;

  /// Serves the connection until either side closes it. `early`: bytes that were already read.
  Task<void> run(std::string_view early);

  void drain() override;
  void announce_end() override;
  void abort() override;

 protected:
  bool close_for_room() override;

 private:
  class ServedStream;

  void serve(http::StreamId) override;
  void changed() override { changes_.cancel(); }
  /// Serves one stream, and counts it in `serving_`.
  static Task<void> serve_stream(Http2Session&, http::StreamId);
  /// Serves a CONNECT, or a request for a WebSocket, as a connection of its own (rows M11 and M12).
  Task<void> serve_connect(http::StreamId);
  /// Counts what has arrived: malformed requests, and frames with an error code.
  void count_events();
  http::TargetForm target_form() const;
  const InsideStream* inside() const { return inside_ ? &*inside_ : nullptr; }
  /// Returns true if the connection is to end once its streams have ended.
  bool must_end() const;
  /// Announces the end of the connection, and sets when it is closed even if the client does not respond.
  void say_goodbye();
  /// Refuses new streams once the client knows that the connection ends. Returns when to call this again.
  Instant refuse_new_streams();
  /// Returns when the head that is arriving must be complete (row M100).
  Instant head_due() const;
  /// Returns true if the connection is to be closed once no stream is served.
  bool is_leaving() const;
  /// Waits until no stream has been served for `timers.keep_alive`, or the connection is to be closed.
  Task<void> wait_idle();

  std::unique_ptr<net::Stream> stream_;
  std::optional<InsideStream> inside_;
  std::shared_ptr<net::Http2ClientConnection> connection_;
  net::Pause changes_;              ///< waits until anything has changed
  ServedStream* served_ = nullptr;  ///< the streams that are served: a list
  std::size_t serving_ = 0;
  bool has_served_ = false;          ///< a stream has begun
  std::optional<Instant> leave_by_;  ///< set once the end of the connection was announced
  ClientPlace place_;
};

/// A connection over which the client speaks HTTP/2.
struct Http2Opening {
  ClientConnection connection;
  std::optional<InsideStream> inside;  ///< the byte stream that the connection is inside of, if any
  std::string early;                   ///< the first bytes, as far as they were read
};

/// Serves the connection until it has ended.
Task<void> serve_http2(Worker&, Http2Opening);

}  // namespace reprise::forward
