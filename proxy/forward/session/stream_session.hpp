// A client's byte stream that may be anything: behind CONNECT, through SOCKS, or redirected here. It becomes
// a tunnel, or its requests are served one by one.
#pragma once

#include <optional>

#include "proxy/forward/session/plan.hpp"

namespace reprise::forward {

/// Serves one stream. Client and request must outlive it. What is returned: what the client's requests are
/// served inside of from now on; absent where no request will follow.
class StreamSession {
 public:
  StreamSession(ServedClient& client, Request& request) : client_(client), request_(request) {}

  /// A connection that is a stream from its beginning.
  Task<std::optional<InsideStream>> begin(const StreamListener&);
  /// A stream that was planned: the request has its TunnelRequest.
  Task<std::optional<InsideStream>> carry();

 private:
  TunnelRequest& tunnel() { return std::get<TunnelRequest>(request_.purpose); }
  Task<std::optional<InsideStream>> listen_and_carry();
  Task<std::optional<InsideStream>> exchange_bytes();
  Task<std::optional<InsideStream>> go_inside();
  Task<bool> terminate_tls();
  void report(telemetry::Interception, std::string_view words);
  void report_refusal(http::Rejection);

  ServedClient& client_;
  Request& request_;
};

}  // namespace reprise::forward
