// One finished request, as metrics, log, history and tracing read it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/policy/decision/ledger.hpp"

namespace reprise::telemetry {

struct UpstreamCells;

/// How the exchange ended for the client: it got a whole response, the response was cut, or the client left
/// first.
enum class Ending : std::uint8_t { answered, cut, client_gone };

/// Returns the word in logs: the enumerator's name.
std::string_view word(Ending);

/// What an opened tunnel carried. `nothing`: the record is of a request, not of a tunnel.
enum class Carried : std::uint8_t {
  nothing,
  requests,  ///< plain or intercepted HTTP: each request has a record of its own
  tls,       ///< most likely HTTPS; its requests could not be read
  upgraded,  ///< the protocol to which a 101 switched
  bytes,     ///< anything else
};

/// Returns the word in logs: the enumerator's name.
std::string_view word(Carried);

/// The numbers and flags of one finished request. The history copies them byte by byte. Members are ordered
/// by size, because a gap between them would take memory for each request that is kept.
struct ExchangeNumbers {
  std::uint64_t number = 0;          ///< the request's number in the history; 0: not kept
  std::uint64_t request_bytes = 0;   ///< body bytes read from the client
  std::uint64_t response_bytes = 0;  ///< body bytes sent to the client
  policy::Duration took{};           ///< from the request head to the end of the response
  std::int64_t ended_wall = 0;  ///< nanoseconds since 1970; 0 if nobody logs, keeps or traces the request
  std::uint32_t route = 0;      ///< index in the route table
  std::int32_t status = 0;      ///< the status sent; 0 if none was
  std::uint16_t port = 0;       ///< the one that is dialled
  Ending ending = Ending::answered;
  bool idempotent = false;    ///< as its rule says, before its body was looked into
  bool own_response = false;  ///< the response was ours, not the upstream's
  bool tunnel = false;        ///< asked for by CONNECT, SOCKS or a redirected connection
  bool over_tls = false;      ///< the upstream is spoken to over TLS

  bool operator==(const ExchangeNumbers&) const = default;
};

/// The texts of one finished request: views while it is counted and logged, strings in a HistoryEntry.
template <typename Text>
struct ExchangeTexts {
  Text method;
  Text host;         ///< upstream host as sent, without port
  Text path;         ///< without query
  Text client;       ///< `address:port`; may be empty
  Text request_id;   ///< X-Request-Id as sent; may be empty
  Text traceparent;  ///< as sent, whole and well-formed (W3C Trace Context 2.2), or empty
};

/// Pointers to all texts. A text that is missing here does not compile.
template <typename Text>
constexpr auto pointers_to(ExchangeTexts<Text>& texts) {
  auto& [method, host, path, client, request_id, traceparent] = texts;
  return std::array{&method, &host, &path, &client, &request_id, &traceparent};
}

/// One finished request. Views that live for the call only.
struct ExchangeRecord : ExchangeNumbers, ExchangeTexts<std::string_view> {
  std::string_view id;        ///< `number` as text, Stories::id_of; may be empty
  std::string_view trace_id;  ///< from `traceparent`
  policy::Instant started{};
  const policy::Ledger* ledger = nullptr;  ///< never null
  UpstreamCells* upstream = nullptr;       ///< where its attempts are counted besides; may be null
  Carried carried = Carried::nothing;
  bool can_intercept = false;  ///< `tls` that would be readable if `intercept.hosts` had its host

  policy::Instant ended() const { return started + took; }
};

/// True if the record is of an opened tunnel, not of a request.
inline bool is_tunnel(const ExchangeRecord& record) { return record.carried != Carried::nothing; }
/// Returns true for a complete response below 400 after any retry, stale connections included: what
/// `reprise_recovered_total` counts.
bool is_recovered(const ExchangeRecord&);
/// Returns true for a complete response that was resumed after a break: what
/// `reprise_resumed_downloads_total` counts.
bool is_resumed(const ExchangeRecord&);

}  // namespace reprise::telemetry
