#include "proxy/forward/request/dead_peer_check.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Stage;

// Ends the attempt's reads if the upstream seems dead. A request that cannot be retried keeps waiting,
// because the network may come back.
void DeadPeerCheck::check_liveness() {
  const Instant now = net::Tick::now();
  const bool in_time = !deadline_ || now <= *deadline_;
  if (!in_time || !response_.buffer.empty() || out_.bound || !out_.may_be_repeated()) return;
  net::UpstreamEnd& upstream = response_.connection.end();
  if (!upstream.seems_dead(now - begun_)) return;
  found_ = true;
  upstream.end_read();
}

void DeadPeerCheck::attribute_failure(net::Pool& pool, policy::Failed& failed) const {
  const bool before_response = failed.stage == Stage::send || failed.stage == Stage::await_head;
  if (!response_.connection.reused() || !before_response) return;
  const bool is_dead = found_ && failed.cause == Cause::cancelled;
  if (is_dead) failed.cause = Cause::unacknowledged;
  if (response_.connection.is_http2()) {
    if (is_dead) response_.connection.stream().retire_connection();
  } else if (is_dead) {
    pool.ended_after_idle(response_.connection.connection(), begun_);
  } else if (failed.cause == Cause::closed || failed.cause == Cause::reset) {
    pool.ended_after_idle(response_.connection.connection(), net::Tick::now());
  }
}

}  // namespace reprise::forward
