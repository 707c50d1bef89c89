// Watches for the client's departure and for shutdown during one exchange, and cancels the operation that the
// exchange waits on.
#pragma once

#include <cstdint>
#include <functional>

#include "proxy/net/ends/client_end.hpp"
#include "proxy/net/io/guarded_pointer.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::net {

/// Checks every 100 ms whether the client has closed its sending side or has reset the connection, even if
/// bytes are still unread. Starts the attempt's liveness check about once a second. An exchange that ends
/// before the first check costs nothing.
class ClientWatch final : public Timed {
 public:
  /// Registers the operation that a client reset cancels, for the lifetime of this object. At most one
  /// operation is registered at a time. `attempt` is null if there is nothing to cancel.
  class [[nodiscard]] Attempt {
   public:
    Attempt(ClientWatch& watch, Cancellable* attempt) : guard_(watch.attempt_, attempt) {}
    void end() { guard_.end(); }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// Registers the wait that a FIN, a reset or a shutdown cancels, for the lifetime of this object. If the
  /// FIN, reset or shutdown has already happened, the wait is cancelled at once.
  class [[nodiscard]] Waiting {
   public:
    Waiting(ClientWatch& watch, Cancellable& wait) : guard_(watch.wait_, &wait) {
      if (watch.has_news()) wait.cancel();
    }

   private:
    GuardedPointer<Cancellable>::Guard guard_;
  };

  /// `finishes` is called once, when the client has closed its sending side. The client may still wait for
  /// its response, or may be gone; the two cannot be distinguished.
  ClientWatch(Tick& tick, ClientEnd& client, std::function<void()> finishes = {})
      : tick_(tick), client_(client), finishes_(std::move(finishes)) {
    tick_.arm(*this, interval);
  }

  /// Checks the client now. Call before a decision that should not wait for the next check.
  void look();
  /// Starts the shutdown (SIGTERM): no further retry starts.
  void shut_down();

  /// Returns true after a FIN, a reset or the start of a shutdown.
  bool has_news() const { return finished_ || reset_ || shutting_down_; }
  bool client_finished() const { return finished_; }
  bool client_reset() const { return reset_; }
  bool shutting_down() const { return shutting_down_; }
  /// Reports a FIN of the client that other code has detected.
  void report_finished();
  /// Reports that the client is gone. Other code has detected this, because a read of the request body or a
  /// write of an interim response failed.
  void report_reset();

 protected:
  void time_is_up() override;

 private:
  static constexpr Duration interval = std::chrono::milliseconds(100);

  static constexpr Duration liveness_interval = std::chrono::seconds(1);

  void end_wait();
  void check_attempt_liveness();

  Tick& tick_;
  ClientEnd& client_;
  const std::function<void()> finishes_;
  GuardedPointer<Cancellable> attempt_;
  GuardedPointer<Cancellable> wait_;
  Instant next_liveness_check_{};
  bool finished_ = false;
  bool reset_ = false;
  bool shutting_down_ = false;
};

}  // namespace reprise::net
