#include "proxy/net/tunnel.hpp"

#include <boost/asio/co_spawn.hpp>

namespace reprise::net {
namespace {

constexpr Duration drain_idle = std::chrono::seconds(1);

}  // namespace

using observe::TunnelOutcome;

Tunnel::Tunnel(Loop& loop, Stream& client, Stream& upstream, Duration idle)
    : loop_(loop), up_{client, upstream}, down_{upstream, client}, idle_(idle), joined_(loop.io) {}

Task<TunnelOutcome> Tunnel::run(Buffer& from_client, Buffer& from_upstream) {
  last_move_ = Tick::now();
  if (loop_.draining) drain();
  asio::co_spawn(loop_.io, run_spawned(*this, up_, from_client), or_abort);
  co_await carry(down_, from_upstream);
  down_.over = true;
  while (!up_.over) {
    joined_.expires_at(Instant::max());
    co_await joined_.async_wait(as_result);
  }
  co_return outcome_;
}

Task<void> Tunnel::run_spawned(Tunnel& tunnel, Way& way, Buffer& first) {
  co_await tunnel.carry(way, first);
  way.over = true;
  tunnel.joined_.cancel();
}

// One direction, until its FIN (passed on) or a failure (which ends both).
Task<void> Tunnel::carry(Way& way, Buffer& buffer) {
  for (;;) {
    if (!buffer.empty()) {
      Gather pieces;
      pieces.add(buffer.view());
      const ErrorCode unsent = co_await way.to.write_all(pieces, idle_);
      if (unsent) co_return break_off(TunnelOutcome::broken);
      way.bytes += buffer.size();
      last_move_ = Tick::now();
      buffer.clear();
    }
    const ErrorCode error = co_await read(way, buffer);
    if (error == asio::error::eof) {
      way.to.finish_sending();
      co_return;
    }
    if (error == asio::error::timed_out)
      co_return break_off(draining_ ? TunnelOutcome::drained : TunnelOutcome::idle);
    if (error) co_return break_off(TunnelOutcome::broken);
    last_move_ = Tick::now();
  }
}

// Silence one way is no silence while the other way flows.
Task<ErrorCode> Tunnel::read(Way& way, Buffer& buffer) {
  for (;;) {
    way.from.limit_read(idle_);
    const auto [error, bytes] = co_await way.from.read_some(buffer.room());
    way.from.unlimit_read();
    if (!error) {
      buffer.commit(bytes);
      co_return ErrorCode();
    }
    if (!way.from.take_limit_hit()) co_return error;
    if (Tick::now() - last_move_ >= idle_) co_return ErrorCode(asio::error::timed_out);
  }
}

void Tunnel::break_off(TunnelOutcome outcome) {
  if (broken_) return;
  broken_ = true;
  outcome_ = outcome;
  up_.from.cancel();
  down_.from.cancel();
}

void Tunnel::drain() {
  draining_ = true;
  idle_ = drain_idle;
  up_.from.limit_read(idle_);
  down_.from.limit_read(idle_);
}

}  // namespace reprise::net
