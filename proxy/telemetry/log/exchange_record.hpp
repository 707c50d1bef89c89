// One finished request, as metrics, log, history and tracing read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/policy/decision/ledger.hpp"

namespace reprise::telemetry {

struct UpstreamCells;

/// The end of an exchange as the client saw it: a whole response, a cut response, or none because the client
/// left first.
enum class Ending : std::uint8_t { complete, cut, client_gone };

/// Returns the word that logs use: the enumerator's name.
std::string_view word(Ending);

/// The contents of an opened tunnel. `nothing`: the record describes a request, not a tunnel.
enum class Carried : std::uint8_t {
  nothing,
  requests,  ///< plain or intercepted HTTP: each request has its own record
  tls,       ///< most likely HTTPS; its requests could not be read
  upgraded,  ///< the protocol to which a 101 switched
  bytes,     ///< anything else
};

/// Returns the word that logs use: the enumerator's name.
std::string_view word(Carried);

/// The numbers and flags of one finished request. The history copies them byte by byte. Members are ordered
/// by size, because padding between them would cost memory for each request that is kept.
struct ExchangeNumbers {
  std::uint64_t number = 0;          ///< the request's number in the history; 0: not kept
  std::uint64_t request_bytes = 0;   ///< body bytes read from the client
  std::uint64_t response_bytes = 0;  ///< body bytes sent to the client
  policy::Duration took{};           ///< from the request head to the end of the response
  std::int64_t ended_wall = 0;  ///< nanoseconds since 1970; 0 if the request is not logged, kept or traced
  std::uint32_t route = 0;      ///< index in the route table
  std::int32_t status = 0;      ///< status sent to the client; 0 if no response was sent
  std::uint16_t port = 0;       ///< port of the upstream
  Ending ending = Ending::complete;
  bool idempotent = false;  ///< whether the route treats the request as idempotent, judged by the head alone
  bool own_response = false;  ///< this proxy generated the response
  bool tunnel = false;        ///< the client asked for a tunnel, by CONNECT, SOCKS or a redirected connection
  bool over_tls = false;      ///< the connection to the upstream uses TLS
  bool http2 = false;         ///< the client sent the request over HTTP/2
  bool is_call = false;       ///< the request is a gRPC call
  /// The request body was too long for memory, and `Cache-Control: no-store` kept it off the disk.
  bool no_store = false;
  /// The status that the client of a gRPC call got; absent for other requests, and if the response ended
  /// without one (row M107).
  std::optional<policy::GrpcStatus> grpc{};

  bool operator==(const ExchangeNumbers&) const = default;
};

/// The texts of one finished request. `Text` is a view in an ExchangeRecord and a string in a HistoryEntry.
template <typename Text>
struct ExchangeTexts {
  Text method;
  Text host;        ///< upstream host as sent, without port
  Text path;        ///< without query
  Text client;      ///< `address:port`; may be empty
  Text request_id;  ///< X-Request-Id as sent; may be empty
  /// Traceparent as the client sent it; empty if absent or malformed (W3C Trace Context 2.2).
  Text traceparent;
};

/// Returns pointers to all texts. Does not compile if the function misses a member of ExchangeTexts.
template <typename Text>
constexpr auto pointers_to(ExchangeTexts<Text>& texts) {
  auto& [method, host, path, client, request_id, traceparent] = texts;
  return std::array{&method, &host, &path, &client, &request_id, &traceparent};
}
inline constexpr std::size_t exchange_text_count = [] {
  ExchangeTexts<std::string_view> texts;
  return pointers_to(texts).size();
}();

/// One finished request. Its views are valid only during the call to which the record is passed.
struct ExchangeRecord : ExchangeNumbers, ExchangeTexts<std::string_view> {
  std::string_view id;        ///< `number` as text (RequestHistory::id_of); may be empty
  std::string_view trace_id;  ///< from `traceparent`
  policy::Instant started{};
  const policy::Ledger* ledger = nullptr;  ///< never null
  UpstreamCells* upstream = nullptr;       ///< counters for the attempts at the upstream; may be null
  Carried carried = Carried::nothing;
  bool can_intercept =
      false;  ///< for `tls`: the requests would be readable if `intercept.hosts` listed the host

  policy::Instant ended() const { return started + took; }
};

/// Returns true if the record describes an opened tunnel, not a request.
inline bool is_tunnel(const ExchangeRecord& record) { return record.carried != Carried::nothing; }
/// Returns true if the request got a complete response below 400 after a retry, even if that retry only
/// replaced a stale connection. A gRPC call must also have ended with the status `ok`.
/// `reprise_recovered_total` counts these requests.
bool is_recovered(const ExchangeRecord&);
/// Returns true if the response broke, was resumed, and became complete. `reprise_resumed_downloads_total`
/// counts these requests.
bool is_resumed(const ExchangeRecord&);

}  // namespace reprise::telemetry
