// Runs an attempt and its hedged copy concurrently, and returns each of them when it ends.
#pragma once

#include <array>

#include "proxy/forward/attempt/attempt.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Used for one request. Preconditions: the request's body was read completely before the copy starts; every
/// attempt has ended or was stopped before this object is destroyed, except at the end of the thread.
class HedgedAttempt final : public net::Cancellable {
 public:
  struct Runner {
    unsigned number = 0;
    AttemptResult result;
    Response* response = nullptr;
    net::AttemptCancel cancel;
    enum class State : std::uint8_t { idle, running, ended, reported } state = State::idle;
  };

  /// `pause` is used for the waits of this object. All arguments must outlive this object.
  HedgedAttempt(Worker& worker, Outgoing& out, net::Pause& pause, std::optional<Instant> deadline)
      : worker_(worker), out_(out), pause_(pause), deadline_(deadline) {}
  HedgedAttempt(const HedgedAttempt&) = delete;
  HedgedAttempt& operator=(const HedgedAttempt&) = delete;

  /// Starts an attempt; at most two. `client` gets the interim responses; null for the copy, because only one
  /// attempt may pass them.
  void start(const policy::Start&, net::Stream* client, Response&);
  /// Waits until an attempt ends, and returns it. Returns each attempt once. Null if none has ended by `due`.
  Task<Runner*> next_end(Instant due);
  /// Cancels that attempt, waits for its end and discards its response. Does nothing if `next_end` has
  /// already returned it.
  Task<void> stop(unsigned number);
  /// Discards the response of each attempt that `next_end` returned, except the response `worth_keeping`. If
  /// `worth_keeping` is null, discards all of them.
  Task<void> drop_losers(const Response* worth_keeping);
  /// Returns true while an attempt is running, or has ended without being returned by `next_end` or stopped.
  bool goes_on() const;
  /// Cancels both attempts.
  void cancel() override;
  /// Checks the liveness of both attempts.
  void check_liveness() override;

 private:
  static Task<void> run(HedgedAttempt&, Runner&, policy::Start, net::Stream* client);

  Worker& worker_;
  Outgoing& out_;
  net::Pause& pause_;
  std::optional<Instant> deadline_;
  std::array<Runner, 2> runners_;
};

/// Returns the observed latency of this route's first attempts. Null if the route does not use it.
policy::ObservedLatency* latency_of(Worker&, const Route&);
/// Returns a report of an attempt that has no response yet.
policy::AttemptReport report_of_slow(const Outgoing&, unsigned number);

}  // namespace reprise::forward
