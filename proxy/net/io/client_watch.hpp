// Looks after one exchange from outside: the client's departure
// and shutdown, told to whatever the exchange waits on.
#pragma once

#include <cstdint>
#include <functional>

#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::net {

/// While armed, asks every 100 ms whether the client closed its sending side or reset, be it behind unread
/// bytes; and has the attempt look out about once a second.
/// Costs nothing for an exchange that is over sooner.
class ClientWatch final : public Timed {
 public:
  /// Names what a reset stops, for as long as it lives; one at a time. Null: there is nothing to stop.
  class [[nodiscard]] Attempt {
   public:
    Attempt(ClientWatch& watch, Cancellable* attempt) : guard_(watch.attempt_, attempt) {}
    void end() { guard_.end(); }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// Names what a FIN, a reset or a shutdown stops, at once
  /// where there has been one, for as long as it lives.
  class [[nodiscard]] Waiting {
   public:
    Waiting(ClientWatch& watch, Cancellable& wait) : guard_(watch.wait_, &wait) {
      if (watch.finished_ || watch.reset_ || watch.shutting_down_) wait.cancel();
    }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// `finishes`: called once, when the client has closed its sending side. It may wait for its response, or
  /// have left for good: nothing tells the two apart.
  ClientWatch(Tick& tick, Stream& client, std::function<void()> finishes = {})
      : tick_(tick), client_(client), finishes_(std::move(finishes)) {
    tick_.arm(*this, interval);
  }

  /// Asks now: before a decision that should not wait for the next look.
  void look();
  /// SIGTERM: no retry starts any more.
  void shut_down();

  bool client_finished() const { return finished_; }
  bool client_reset() const { return reset_; }
  bool shutting_down() const { return shutting_down_; }
  /// The end of what the client sends was read on another path.
  void report_finished();
  /// The client failed on another path (a read of its body, a write of an interim response).
  void report_reset();

 protected:
  void time_is_up() override;

 private:
  static constexpr Duration interval = std::chrono::milliseconds(100);

  static constexpr Duration lookout_interval = std::chrono::seconds(1);

  void end_wait();
  void have_looked_out();

  Tick& tick_;
  Stream& client_;
  const std::function<void()> finishes_;
  GuardedPointer<Cancellable> attempt_;
  GuardedPointer<Cancellable> wait_;
  Instant next_lookout_{};
  bool finished_ = false;
  bool reset_ = false;
  bool shutting_down_ = false;
};

}  // namespace reprise::net
