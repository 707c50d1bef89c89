// What a story knows of each of its requests, from both ends, and the first law that was broken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/telemetry/log/exchange_record.hpp"
#include "tests/simulation/world.hpp"

namespace reprise::simulation {

enum class BodyFraming : std::uint8_t { none, counted, chunked };

/// A request as the client means to send it.
struct RequestPlan {
  std::uint64_t id = 0;
  std::string method = "GET";
  std::string host;
  BodyFraming framing = BodyFraming::none;
  std::uint64_t body_bytes = 0;
  std::uint64_t response_bytes = 0;  ///< of every representation that the upstream has of it
  bool speaks_1_0 = false;
  bool expects_continue = false;
  bool marked = false;          ///< carries Idempotency-Key
  bool retries_itself = false;  ///< the client is on a retry of its own
  bool tunnelled = false;       ///< asked for inside a CONNECT, in origin-form
  bool terminated = false;      ///< its TLS is ended by the proxy; of a CONNECT: that of what is inside
  std::string query;            ///< with its question mark
  bool idempotent = false;      ///< what the route's rule says of it
  bool repeatable = false;      ///< and it may be played again, as far as its head tells
  bool takes_no_risk = false;   ///< it is not, and the first such one of its client connection to its host
};

/// How a request ended for the client that stayed to see it.
enum class ClientEnd : std::uint8_t { pending, whole, own_response, cut, left };

/// Where a response tells of an error that its status does not tell of.
enum class Tells : std::uint8_t { nothing, in_json, in_xml, in_head };

/// A response that an upstream began to give.
struct Served {
  unsigned version = 0;
  int status = 0;
  Tells tells = Tells::nothing;
};

/// Bytes of a request on a connection to an upstream, be it that they never came.
struct Ride {
  Instant at{};
  const void* connection = nullptr;
};

/// An attempt that went out on a connection that was dead, and had served before.
struct SentInVain {
  Instant at{};
  Instant last_heard{};  ///< something of the connection's other end
};

struct Account {
  RequestPlan plan;
  std::vector<Ride> rides;
  std::vector<SentInVain> in_vain;
  unsigned arrivals = 0;  ///< times that a byte of it reached an upstream
  unsigned effects = 0;
  std::vector<Served> served;
  std::string head;  ///< as the upstream got it first
  ClientEnd end = ClientEnd::pending;
  Instant asked{};
  Instant ended{};
  std::optional<Instant> finished;  ///< its client sent FIN
  std::optional<Instant> reset;     ///< or a reset
  Instant moved{};                  ///< when an upstream last took a byte of it
  Instant sent{};                   ///< when its client last sent one: what it has not sent holds nobody up
  bool sent_whole = false;
  bool may_miss_response = false;  ///< its client is slow, so that a reset may come before it has read
  unsigned records = 0;
  telemetry::Ending ending = telemetry::Ending::answered;
  int status = 0;  ///< that the client got
  bool got_error_in_head = false;
  Instant head_at{};
  Instant told{};  ///< when the exchange was over
  policy::Ledger ledger;
};

/// One per story.
class Book {
 public:
  explicit Book(World& world) : world_(world) {}

  Account& open(const RequestPlan& plan);
  Account* find(std::uint64_t id);
  std::map<std::uint64_t, Account>& accounts() { return accounts_; }

  /// The first one counts.
  void broken(std::string law);
  const std::string& first_broken() const { return broken_; }

  /// The process was told to stop: connections end without a word.
  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  /// For people: what happened, and when. Kept only where somebody will read it.
  void tell(std::string_view text);
  void keep_transcript() { telling_ = true; }
  bool telling() const { return telling_; }

 private:
  World& world_;
  std::map<std::uint64_t, Account> accounts_;
  std::string broken_;
  bool telling_ = false;
  bool stopping_ = false;
};

}  // namespace reprise::simulation
