#include "proxy/net/connect.hpp"

#include "proxy/net/dial.hpp"
#include "proxy/net/parent.hpp"
#include "proxy/net/secure.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;
using policy::Stage;

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
  co_return std::nullopt;
}

}  // namespace reprise::net
