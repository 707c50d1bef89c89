// Relays the bytes of CONNECT tunnels and upgraded connections unread in both directions, with half-close.
#pragma once

#include <functional>

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/tick.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// One tunnel. Both streams must outlive `run` and must have no time limits of their own.
class Tunnel final : public net::Timed {
 public:
  Tunnel(net::Tick& tick, net::Stream& client, net::Stream& upstream, Duration idle);

  /// Relays until both sides have closed, or until one side is reset and the bytes that it sent before are
  /// delivered. Also ends if no byte moves for `idle`; this end may come late by up to a quarter of `idle`.
  /// `from_client` and `from_upstream` hold bytes that were already read; they are sent first.
  /// `draining`: shutdown has begun already.
  Task<telemetry::TunnelOutcome> run(net::Buffer& from_client, net::Buffer& from_upstream, bool draining);
  /// Starts the shutdown: the tunnel ends as soon as no byte moves for a second. If the client sent the last
  /// bytes, the tunnel ends after the response (row N5).
  void drain();
  /// Ends the tunnel at once, because the grace period is over, or because the client has left and another
  /// client needs room.
  void abort();
  /// Ends the tunnel because its address is now denied (row N3).
  void deny() { break_off(telemetry::TunnelOutcome::denied); }
  /// Sets a function that is called once, when the client has closed its sending side.
  void on_client_finished(std::function<void()> notify) { client_finishes_ = std::move(notify); }

  std::uint64_t bytes_up() const { return up_.bytes; }
  std::uint64_t bytes_down() const { return down_.bytes; }

 protected:
  void time_is_up() override;

 private:
  struct Way {
    net::Stream& from;
    net::Stream& to;
    std::uint64_t bytes = 0;
    bool discards = false;  ///< `to` accepts no more bytes; bytes for it are discarded
    bool over = false;
  };

  static Task<void> run_spawned(Tunnel& tunnel, Way& way, net::Buffer& first);
  Task<void> carry(Way& way, net::Buffer& first);
  Task<ErrorCode> write(net::Stream& to, net::Gather& pieces);
  void refuse(Way& way);
  void arm_check();
  void break_off(telemetry::TunnelOutcome);
  telemetry::TunnelOutcome cut_short() const;
  Duration idle_limit() const;

  net::Tick& tick_;
  Way up_;
  Way down_;
  Duration idle_;
  Instant last_move_{};
  std::function<void()> client_finishes_;
  bool client_sent_last_ = false;
  net::Timer joined_;
  telemetry::TunnelOutcome outcome_ = telemetry::TunnelOutcome::closed;
  bool broken_ = false;
  bool draining_ = false;
};

}  // namespace reprise::forward
