#include "proxy/net/connect.hpp"

#include "proxy/net/dial.hpp"
#include "proxy/net/parent.hpp"

namespace reprise::net {

using policy::Failed;

Task<std::optional<Failed>> connect(Loop& loop, Request& request, Stop& stop, Answer& answer) {
  const Upstream& upstream = *request.upstream;
  // No conditional operator: GCC 12 destroys what co_await gives twice in one.
  Dialled dialled;
  if (upstream.parent == nullptr) {
    dialled = co_await dial(loop, upstream.host, upstream.port, request.policy->connect_timeout, stop);
  } else {
    dialled = co_await dial_through_parent(loop, request, stop, answer);
  }
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  answer.connection = std::make_unique<UpstreamConnection>(
      loop.pool, carrier_of(request), std::get<std::unique_ptr<Stream>>(std::move(dialled)));
  co_return std::nullopt;
}

}  // namespace reprise::net
