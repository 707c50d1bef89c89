#include "proxy/net/connect.hpp"

#include <algorithm>

#include "proxy/net/dial.hpp"
#include "proxy/net/parent.hpp"
#include "proxy/net/secure.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

Duration user_timeout_of(const Request& request) {
  constexpr Duration most = std::chrono::seconds(60);
  constexpr std::uint64_t window = 65536;
  const http::Framing& framing = request.head.framing;
  const bool long_body = framing.kind == http::Framing::Kind::chunked ||
                         (framing.kind == http::Framing::Kind::length && framing.length > window);
  if (long_body) return request.policy->idle_timeout;
  const auto deadline = request.policy->retry.deadline;
  return deadline ? std::min(most, *deadline / 2) : most;
}

Task<std::optional<Failed>> connect(Loop& loop, Request& request, Stop& stop, std::optional<Instant> deadline,
                                    Answer& answer) {
  Upstream& upstream = *request.upstream;
  ConnectTime time(request.policy->connect_timeout, deadline);
  // No conditional operator: GCC 12 destroys what co_await gives twice in one.
  Dialled dialled;
  if (upstream.parent == nullptr) {
    dialled = co_await dial(loop, upstream.host, upstream.port, time, stop);
  } else {
    dialled = co_await dial_through_parent(loop, request, time, stop, answer);
  }
  if (auto* stream = std::get_if<std::unique_ptr<Stream>>(&dialled); stream != nullptr && upstream.tls) {
    // Nobody speaks before a ClientHello.
    if (!answer.buffer.empty()) co_return Failed{Stage::tls, Cause::tls_protocol_error};
    dialled = co_await secure(loop, upstream, std::move(*stream), time, stop);
  }
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  answer.connection = std::make_unique<UpstreamConnection>(
      loop.pool, carrier_of(request), std::get<std::unique_ptr<Stream>>(std::move(dialled)));
  answer.connection->stream().set_user_timeout(user_timeout_of(request));
  co_return std::nullopt;
}

}  // namespace reprise::net
