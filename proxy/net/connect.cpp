#include "proxy/net/connect.hpp"

#include "proxy/net/dial.hpp"

namespace reprise::net {

using policy::Failed;

Task<std::optional<Failed>> connect(Loop& loop, Request& request, Stop& stop, Answer& answer) {
  const Upstream& upstream = *request.upstream;
  Dialled dialled = co_await dial(loop, upstream.host, upstream.port, request.policy->connect_timeout, stop);
  if (const auto* failed = std::get_if<Failed>(&dialled)) co_return *failed;
  answer.connection = std::make_unique<UpstreamConnection>(
      loop.pool, request.upstream, std::get<std::unique_ptr<Stream>>(std::move(dialled)));
  co_return std::nullopt;
}

}  // namespace reprise::net
