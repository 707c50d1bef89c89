// Records what both ends observed of each request of a story, and the first law that was broken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/telemetry/log/exchange_record.hpp"
#include "tests/simulation/http2_marks.hpp"
#include "tests/simulation/world.hpp"

namespace reprise::simulation {

enum class BodyFraming : std::uint8_t { none, counted, chunked };

/// A request as the client intends to send it.
struct RequestPlan {
  std::uint64_t id = 0;
  std::uint64_t client = 0;  ///< number of the client connection that sends the request
  std::string method = "GET";
  std::string host;
  BodyFraming framing = BodyFraming::none;
  std::uint64_t body_bytes = 0;
  std::uint64_t response_bytes = 0;  ///< size of each representation that the upstream has
  bool speaks_1_0 = false;
  bool expects_continue = false;
  bool marked = false;          ///< carries Idempotency-Key
  bool retries_itself = false;  ///< the client marks the request as a retry of its own
  bool tunnelled = false;       ///< sent inside a CONNECT tunnel, in origin-form
  /// True if the proxy terminates the client's TLS. For a CONNECT, this is the TLS inside the tunnel.
  bool terminated = false;
  std::string query;        ///< query of the target, with its question mark
  bool idempotent = false;  ///< verdict of the route's idempotency rule
  bool repeatable = false;  ///< the request may be retried, judged by its head
  /// True if the request must use a new connection: it is not repeatable, and the last non-repeatable request
  /// of the same client connection went to another host, or there was no such request.
  bool takes_no_risk = false;
};

/// How a request ended, as its client saw it.
enum class ClientEnd : std::uint8_t { pending, whole, own_response, cut, left };

/// Place where a response reports an error that its status does not show.
enum class Tells : std::uint8_t { nothing, in_json, in_xml, in_head };

/// A response that an upstream began to send.
struct Served {
  unsigned version = 0;
  int status = 0;
  Tells tells = Tells::nothing;
};

/// How an upstream ended a stream, or the connection of a stream.
enum class StreamEnd : std::uint8_t {
  refused,      ///< RST_STREAM(REFUSED_STREAM)
  needs_http1,  ///< RST_STREAM or GOAWAY with HTTP_1_1_REQUIRED
  reset,        ///< RST_STREAM with another code
  excluded,     ///< GOAWAY excludes the stream
  violation,    ///< a frame that HTTP/2 does not allow came on the connection
  connection,   ///< FIN or reset of the connection
};

struct StreamLoss {
  Instant at{};
  StreamEnd how = StreamEnd::connection;
};

/// The start of a request on an upstream connection, even if its bytes never arrived.
struct Ride {
  Instant at{};
  const void* connection = nullptr;
  bool is_stream = false;  ///< the request is a stream of an HTTP/2 connection
  bool responded = false;  ///< a response head, possibly an interim one, was sent
  std::vector<StreamLoss> losses;
};

/// A request that was sent on a reused connection whose peer was dead.
struct SentInVain {
  Instant at{};
  Instant last_heard{};  ///< when the peer's host last sent or acknowledged something
};

struct Account {
  RequestPlan plan;
  std::vector<Ride> rides;
  std::vector<SentInVain> in_vain;
  unsigned arrivals = 0;  ///< number of attempts from which a byte reached an upstream
  unsigned effects = 0;
  std::vector<Served> served;
  /// Request head as an upstream first received it, without fields that may change between attempts.
  std::string head;
  std::string http2_head;  ///< the same, of attempts over HTTP/2
  ClientEnd end = ClientEnd::pending;
  Instant asked{};
  Instant ended{};
  std::optional<Instant> finished;  ///< when the client sent FIN
  std::optional<Instant> reset;     ///< when the client sent a reset
  Instant moved{};                  ///< when an upstream last read a byte of the request
  Instant sent{};                   ///< when the client last sent a byte of the request
  bool sent_whole = false;
  /// True if a reset may overtake the response: the client is slow or pipelines, or this is a tunnel.
  bool may_miss_response = false;
  /// True if an HTTP/2 upstream sent all bytes of Content-Length, but then more DATA, or no END_STREAM. The
  /// response looks complete to a client over HTTP/1, but not to the proxy, which closes the connection.
  bool ended_before_its_end = false;
  unsigned records = 0;
  telemetry::Ending ending = telemetry::Ending::complete;
  int status = 0;  ///< status that the client received
  bool got_error_in_head = false;
  Instant head_at{};
  Instant told{};  ///< when the exchange was reported as over
  policy::Ledger ledger;
};

/// Keeps an Account of each request of one story.
class Book {
 public:
  explicit Book(World& world) : world_(world) {}

  Account& open(const RequestPlan& plan);
  Account* find(std::uint64_t id);
  std::map<std::uint64_t, Account>& accounts() { return accounts_; }

  /// Reports a broken law. Only the first broken law is kept.
  void broken(std::string law);
  const std::string& first_broken() const { return broken_; }

  void reached(Http2Mark mark) { ++http2_counts_[static_cast<std::size_t>(mark)]; }
  const Http2Counts& http2_counts() const { return http2_counts_; }

  /// Notes that the shutdown has begun: from now on, connections may close without notice.
  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  /// Writes one event with its time to standard error, if keep_transcript() was called.
  void tell(std::string_view text);
  void keep_transcript() { telling_ = true; }
  bool telling() const { return telling_; }

 private:
  World& world_;
  std::map<std::uint64_t, Account> accounts_;
  std::string broken_;
  Http2Counts http2_counts_{};
  bool telling_ = false;
  bool stopping_ = false;
};

}  // namespace reprise::simulation
