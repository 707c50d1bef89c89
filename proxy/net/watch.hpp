// Looks after one exchange from outside: the client's departure and shutdown, told to whatever the exchange
// waits on.
#pragma once

#include <cstdint>

#include "proxy/net/stream.hpp"
#include "proxy/net/tick.hpp"

namespace reprise::net {

/// While armed, asks every 100 ms whether the client closed its sending side or reset, be it behind unread
/// bytes; and has the attempt look out about once a second. Costs nothing for an exchange that is over
/// sooner.
class Watch final : public Timed {
 public:
  Watch(Tick& tick, Stream& client) : tick_(tick), client_(client) { tick_.arm(*this, interval); }

  /// Asks now: before each new attempt.
  void look();
  /// SIGTERM: no retry starts any more.
  void shut_down();

  bool client_finished() const { return finished_; }
  bool client_reset() const { return reset_; }
  bool shutting_down() const { return shutting_down_; }
  /// The client failed on another path (a read of its body, a write of an interim answer).
  void report_reset();

  /// What a reset stops. Null while there is nothing to stop.
  void set_attempt(Cancellable* attempt) { attempt_ = attempt; }
  /// What a FIN, a reset or a shutdown stops; at once where there has been one.
  void set_wait(Cancellable* wait) {
    wait_ = wait;
    if (finished_ || reset_ || shutting_down_) end_wait();
  }

 protected:
  void time_is_up() override;

 private:
  static constexpr Duration interval = std::chrono::milliseconds(100);

  static constexpr Duration lookout_interval = std::chrono::seconds(1);

  void end_wait();
  void have_looked_out();

  Tick& tick_;
  Stream& client_;
  Cancellable* attempt_ = nullptr;
  Cancellable* wait_ = nullptr;
  Instant next_lookout_{};
  bool finished_ = false;
  bool reset_ = false;
  bool shutting_down_ = false;
};

}  // namespace reprise::net
