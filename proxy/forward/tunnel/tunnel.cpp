#include "proxy/forward/tunnel/tunnel.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "proxy/forward/tunnel/first_byte_watch.hpp"

namespace reprise::forward {
namespace {

constexpr Duration drain_idle = std::chrono::seconds(1);
constexpr Duration reset_grace = std::chrono::seconds(30);
// How many times progress is checked within the idle time.
constexpr int checks_per_idle_time = 4;

}  // namespace

using telemetry::TunnelOutcome;

Tunnel::Tunnel(net::Tick& tick, net::Stream& client, net::Stream& upstream, Duration idle)
    : tick_(tick), up_{client, upstream}, down_{upstream, client}, idle_(idle), joined_(client.executor()) {}

Task<TunnelOutcome> Tunnel::run(net::Buffer& from_client, net::Buffer& from_upstream, bool draining) {
  last_move_ = net::Tick::now();
  client_sent_last_ = !from_client.empty() && from_upstream.empty();
  arm_check();
  if (draining) drain();
  asio::co_spawn(up_.from.executor(), run_spawned(*this, up_, from_client), or_abort);
  co_await carry(down_, from_upstream);
  down_.over = true;
  while (!up_.over) {
    joined_.expires_at(Instant::max());
    co_await joined_.async_wait(as_result);
  }
  co_return outcome_;
}

Task<void> Tunnel::run_spawned(Tunnel& tunnel, Way& way, net::Buffer& first) {
  co_await tunnel.carry(way, first);
  way.over = true;
  tunnel.joined_.cancel();
}

// Relays one direction until the sender sends a FIN or resets the connection. A FIN is passed on.
Task<void> Tunnel::carry(Way& way, net::Buffer& buffer) {
  ErrorCode error = detected_end(way.from);
  for (;;) {
    if (!buffer.empty() && !way.discards) {
      net::Gather pieces;
      pieces.add(buffer.view());
      const ErrorCode unsent = co_await write(way.to, pieces);
      if (unsent == asio::error::operation_aborted) co_return break_off(cut_short());
      if (unsent) {
        refuse(way);
      } else {
        way.bytes += buffer.size();
      }
    }
    buffer.clear();
    if (error) break;
    std::size_t bytes = 0;
    std::tie(error, bytes) = co_await way.from.read_some(buffer.room());
    if (error) break;
    buffer.commit(bytes);
    if (way.discards) continue;
    last_move_ = net::Tick::now();
    client_sent_last_ = &way == &up_;
  }
  if (error == asio::error::operation_aborted) co_return break_off(cut_short());
  if (&way == &up_ && client_finishes_) client_finishes_();
  if (error == asio::error::eof) {
    way.to.finish_sending();
  } else {
    refuse(&way == &up_ ? down_ : up_);
    way.to.break_sending();
  }
}

// Writes all pieces. Each part that the receiver accepts counts as progress.
Task<ErrorCode> Tunnel::write(net::Stream& to, net::Gather& pieces) {
  for (;;) {
    const ErrorCode failure = to.write_now(pieces);
    if (failure) co_return failure;
    last_move_ = net::Tick::now();
    if (pieces.empty()) co_return ErrorCode();
    // This direction alone has no time limit: it may be quiet, or its receiver may not read, while the other
    // direction makes progress.
    if (const ErrorCode error = co_await to.wait_writable(policy::no_limit)) co_return error;
  }
}

// Stops sending bytes to a side whose connection was reset. Bytes that this side had sent before the reset
// are still delivered to the other side. Bytes that the other side keeps sending are read and discarded:
// closing a socket with unread bytes sends a reset, and the other side would lose bytes that it has not read
// yet (row G4). The other side receives a FIN and gets a while to close too.
void Tunnel::refuse(Way& way) {
  way.discards = true;
  outcome_ = TunnelOutcome::broken;
  idle_ = std::min(idle_, reset_grace);
  last_move_ = net::Tick::now();
  arm_check();
}

// Returns the outcome of a tunnel whose read or write was cancelled. If the tunnel is draining, the grace
// period is over.
TunnelOutcome Tunnel::cut_short() const { return draining_ ? TunnelOutcome::drained : TunnelOutcome::broken; }

void Tunnel::break_off(TunnelOutcome outcome) {
  if (broken_) return;
  broken_ = true;
  if (outcome_ == TunnelOutcome::closed) outcome_ = outcome;
  up_.from.cancel();
  down_.from.cancel();
}

// Returns the longest time for which no byte may move. During a drain this limit is short, unless the client
// sent the last bytes: the client then waits for a response and gets the whole idle time.
Duration Tunnel::idle_limit() const {
  return draining_ && !client_sent_last_ ? std::min(idle_, drain_idle) : idle_;
}

void Tunnel::time_is_up() {
  if (net::Tick::now() - last_move_ >= idle_limit())
    return break_off(draining_ ? TunnelOutcome::drained : TunnelOutcome::idle);
  arm_check();
}

void Tunnel::arm_check() {
  const Duration limit = draining_ ? std::min(idle_, drain_idle) : idle_;
  tick_.arm(*this, limit == policy::no_limit ? limit : limit / checks_per_idle_time);
}

void Tunnel::drain() {
  draining_ = true;
  arm_check();
}

void Tunnel::abort() { break_off(cut_short()); }

}  // namespace reprise::forward
