#include "proxy/net/dial_one.hpp"

#include "proxy/net/descriptors.hpp"
#include "proxy/net/failure.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;

Task<Dialled> dial_one(Loop& loop, const tcp::endpoint& endpoint, Instant due, Stop& stop) {
  auto stream = loop.open_stream();
  stop.aim_at(stream.get());
  ErrorCode error = co_await stream->connect(endpoint, due);
  while (is_out_of_descriptors(error.value()) && loop.pool.make_room()) {
    error = co_await stream->connect(endpoint, due);
  }
  stop.aim_at(nullptr);
  if (!error) co_return std::move(stream);
  const Cause cause = stream->take_limit_hit() ? Cause::connect_timeout : cause_of_dial(error);
  co_return Failed{policy::Stage::connect, cause};
}

}  // namespace reprise::net
