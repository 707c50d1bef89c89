// Two-way relay of bytes nobody looks into: CONNECT and upgraded connections, with half-close both ways.
#pragma once

#include <functional>

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/tick.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// A tunnel under way. Both streams must outlive `run`, and have no limit of their own.
class Tunnel final : public net::Timed {
 public:
  Tunnel(net::Tick& tick, net::Stream& client, net::Stream& upstream, Duration idle);

  /// `from_client` and `from_upstream` hold bytes that were read already; they go first. Ends when both sides
  /// have closed, one is reset (what it had sent is delivered first), or nothing moved for `idle`, which is
  /// noticed a quarter of it late. `draining`: shutdown has begun before.
  Task<telemetry::TunnelOutcome> run(net::Buffer& from_client, net::Buffer& from_upstream, bool draining);
  /// Shutdown: ends as soon as nothing moves for a second, or, where the client has spoken last, after the
  /// response that it waits for (row N5).
  void drain();
  /// The grace is over, or another client needs the place of one that has left.
  void abort();
  /// The address that it leads to is denied from now on (row N3).
  void deny() { break_off(telemetry::TunnelOutcome::denied); }
  /// Called once, when the client has closed its sending side.
  void when_client_finishes(std::function<void()> told) { client_finishes_ = std::move(told); }

  std::uint64_t bytes_up() const { return up_.bytes; }
  std::uint64_t bytes_down() const { return down_.bytes; }

 protected:
  void time_is_up() override;

 private:
  struct Way {
    net::Stream& from;
    net::Stream& to;
    std::uint64_t bytes = 0;
    bool discards = false;  ///< `to` takes no more
    bool over = false;
  };

  static Task<void> run_spawned(Tunnel& tunnel, Way& way, net::Buffer& first);
  Task<void> carry(Way& way, net::Buffer& first);
  Task<ErrorCode> write(net::Stream& to, net::Gather& pieces);
  void refuse(Way& way);
  void look_later();
  void break_off(telemetry::TunnelOutcome);
  telemetry::TunnelOutcome cut_short() const;
  Duration most_silence() const;

  net::Tick& tick_;
  Way up_;
  Way down_;
  Duration idle_;
  Instant last_move_{};
  std::function<void()> client_finishes_;
  bool client_spoke_last_ = false;
  net::Timer joined_;
  telemetry::TunnelOutcome outcome_ = telemetry::TunnelOutcome::closed;
  bool broken_ = false;
  bool draining_ = false;
};

}  // namespace reprise::forward
