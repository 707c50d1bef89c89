// Serves a byte stream of unknown protocol (CONNECT, SOCKS, redirected) as a tunnel or as separate requests.
#pragma once

#include <optional>

#include "proxy/forward/session/plan.hpp"
#include "proxy/forward/session/served_client.hpp"

namespace reprise::forward {

/// Serves one byte stream, such as a CONNECT tunnel. Precondition: the client and the request outlive this
/// object. `begin` and `carry` return the byte stream that carries the client's next requests; absent if no
/// request follows.
class StreamSession {
 public:
  StreamSession(ServedClient& client, Request& request) : client_(client), request_(request) {}

  /// Serves a connection that is a byte stream from its first byte.
  Task<std::optional<InsideStream>> begin(const StreamListener&);
  /// Serves a planned stream. Precondition: the request holds a TunnelRequest.
  Task<std::optional<InsideStream>> carry();

 private:
  TunnelRequest& tunnel() { return std::get<TunnelRequest>(request_.purpose); }
  Task<std::optional<InsideStream>> sniff_and_carry();
  Task<std::optional<InsideStream>> exchange_bytes();
  Task<std::optional<InsideStream>> go_inside();
  Task<bool> terminate_tls();
  void report(telemetry::Interception, std::string_view words);
  void report_refusal(http::Rejection);

  ServedClient& client_;
  Request& request_;
  bool chose_http2_ = false;  ///< the client has chosen HTTP/2 in its TLS handshake
};

}  // namespace reprise::forward
