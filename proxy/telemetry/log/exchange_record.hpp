// What observers are told of one finished request; views that live for the call only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/decision/ledger.hpp"

namespace reprise::telemetry {

struct UpstreamCells;

/// How the client's side ended.
enum class Ending : std::uint8_t { answered, cut, client_gone };

/// The word in logs: the enumerator's own name.
std::string_view word(Ending);

/// What went through a tunnel that was opened. `nothing`: the record is of a request.
enum class Carried : std::uint8_t {
  nothing,
  requests,  ///< plain or intercepted HTTP: each request has a record of its own
  tls,       ///< HTTPS, most likely: its requests could not be read
  upgraded,  ///< the protocol that a 101 began
  bytes,     ///< anything else
};

/// The word in logs: the enumerator's own name.
std::string_view word(Carried);

struct ExchangeRecord {
  std::size_t route = 0;    ///< index in the route table
  std::string_view client;  ///< `address:port`; may be empty
  std::string_view method;
  std::string_view host;   ///< upstream host as sent, without port
  std::uint16_t port = 0;  ///< the one that is dialled
  std::string_view path;   ///< without query
  Ending ending = Ending::answered;
  int status = 0;                    ///< the status sent; 0 if none was
  bool idempotent = false;           ///< as its rule says, before its body was looked into
  bool own_response = false;         ///< the response was ours, not the upstream's
  std::uint64_t request_bytes = 0;   ///< body bytes read from the client
  std::uint64_t response_bytes = 0;  ///< body bytes sent to the client
  std::uint64_t number = 0;          ///< its story's; 0: none is kept
  std::string_view id;               ///< the same as text, Stories::id_of; may be empty
  std::string_view traceparent;      ///< as sent, whole and well-formed (W3C Trace Context 2.2), or empty
  std::string_view trace_id;         ///< from it
  std::string_view request_id;       ///< X-Request-Id as sent, may be empty
  policy::Instant started{};
  policy::Instant ended{};
  const policy::Ledger* ledger = nullptr;  ///< never null
  UpstreamCells* upstream = nullptr;       ///< where its attempts are counted besides; may be null
  bool tunnel = false;                     ///< asked for by CONNECT, SOCKS or a redirected connection
  Carried carried = Carried::nothing;
  bool can_intercept = false;  ///< `tls` that would be readable if `intercept.hosts` had its host
  bool over_tls = false;       ///< the upstream is spoken to over TLS
};

/// True if the record is of a tunnel that was opened: no request.
inline bool is_tunnel(const ExchangeRecord& record) { return record.carried != Carried::nothing; }
/// A whole response below 400 after any retry, stale ones included: what `reprise_recovered_total` counts.
bool is_recovered(const ExchangeRecord&);
/// A whole response that was continued after a break: what `reprise_resumed_downloads_total` counts.
bool is_resumed(const ExchangeRecord&);

}  // namespace reprise::telemetry
