// Two-way relay of bytes nobody looks into: CONNECT and upgraded connections, with half-close both ways.
#pragma once

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
  /// Shutdown: ends as soon as nothing moves for a second.
  void drain();

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

  Tick& tick_;
  Way up_;
  Way down_;
  Duration idle_;
  Instant last_move_{};
  Timer joined_;
  observe::TunnelOutcome outcome_ = observe::TunnelOutcome::closed;
  bool broken_ = false;
  bool draining_ = false;
};

}  // namespace reprise::net
