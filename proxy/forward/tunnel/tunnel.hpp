// Two-way relay of bytes nobody looks into: CONNECT and upgraded connections, with half-close both ways.
#pragma once

#include <functional>

#include "proxy/io/block.hpp"
#include "proxy/io/stream.hpp"
#include "proxy/io/tick.hpp"
#include "proxy/observe/metrics.hpp"

namespace reprise::net {

/// A tunnel under way. Both streams must outlive `run`, and have no limit of their own.
class Tunnel final : public Timed {
 public:
  Tunnel(Tick& tick, Stream& client, Stream& upstream, Duration idle);

  /// `from_client` and `from_upstream` hold bytes that were read already; they go first. Ends when both sides
  /// have closed, one is reset (what it had sent is delivered first), or nothing moved for `idle`, which is
  /// noticed a quarter of it late. `draining`: shutdown has begun before.
  Task<observe::TunnelOutcome> run(Buffer& from_client, Buffer& from_upstream, bool draining);
  /// Shutdown: ends as soon as nothing moves for a second, or, where the client has spoken last, after the
  /// response that it waits for (row N5).
  void drain();
  /// The grace is over, or another client needs the place of one that has left.
  void abort();
  /// The address that it leads to is denied from now on (row N3).
  void deny() { break_off(observe::TunnelOutcome::denied); }
  /// Called once, when the client has closed its sending side.
  void when_client_finishes(std::function<void()> told) { client_finishes_ = std::move(told); }

  std::uint64_t bytes_up() const { return up_.bytes; }
  std::uint64_t bytes_down() const { return down_.bytes; }

 protected:
  void time_is_up() override;

 private:
  struct Way {
    Stream& from;
    Stream& to;
    std::uint64_t bytes = 0;
    bool discards = false;  ///< `to` takes no more
    bool over = false;
  };

  static Task<void> run_spawned(Tunnel& tunnel, Way& way, Buffer& first);
  Task<void> carry(Way& way, Buffer& first);
  Task<ErrorCode> write(Stream& to, Gather& pieces);
  void refuse(Way& way);
  void look_later();
  void break_off(observe::TunnelOutcome);
  observe::TunnelOutcome cut_short() const;
  Duration most_silence() const;

  Tick& tick_;
  Way up_;
  Way down_;
  Duration idle_;
  Instant last_move_{};
  std::function<void()> client_finishes_;
  bool client_spoke_last_ = false;
  Timer joined_;
  observe::TunnelOutcome outcome_ = observe::TunnelOutcome::closed;
  bool broken_ = false;
  bool draining_ = false;
};

}  // namespace reprise::net
