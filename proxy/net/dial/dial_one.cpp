#include "proxy/net/dial/dial_one.hpp"

#include "proxy/net/dial/own_dials.hpp"
#include "proxy/net/io/descriptors.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::net {

using policy::Cause;
using policy::Failed;

namespace {

// Registers the dial in OwnDials if a transparent listener could accept it.
void begin(Dialer& dialer, Stream& stream, const tcp::endpoint& endpoint) {
  if (!dialer.own_dials.watched() || !stream.is_socket()) return;
  stream.keep(dialer.own_dials.add(endpoint, [&] { return stream.begin_connect(endpoint); }));
}

}  // namespace

Task<Dialled> dial_one(Dialer& dialer, const tcp::endpoint& endpoint, Instant due, AttemptCancel& cancel) {
  dialer.dialled = endpoint;
  auto stream = dialer.open_stream();
  AttemptCancel::Target target(cancel, *stream);
  begin(dialer, *stream, endpoint);
  ErrorCode error = co_await stream->connect(endpoint, due);
  while (is_out_of_descriptors(error.value()) && dialer.pool.make_room()) {
    begin(dialer, *stream, endpoint);
    error = co_await stream->connect(endpoint, due);
  }
  target.end();
  if (!error) co_return std::move(stream);
  const Cause cause = stream->take_limit_hit() ? Cause::connect_timeout : cause_of_dial(error);
  co_return Failed{policy::Stage::connect, cause};
}

}  // namespace reprise::net
