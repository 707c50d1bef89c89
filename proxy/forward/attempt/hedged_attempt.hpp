// Runs an attempt and its hedged copy concurrently, and reports the end of each.
#pragma once

#include <array>

#include "proxy/forward/attempt/attempt.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Serves one request. Precondition: every attempt has ended or was stopped before this object is destroyed,
/// unless the io thread ends.
class HedgedAttempt final : public net::Cancellable {
 public:
  struct Runner {
    unsigned number = 0;
    AttemptResult result;
    Response* response = nullptr;
    net::AttemptCancel cancel;
    enum class State : std::uint8_t { idle, running, ended, reported } state = State::idle;
  };

  /// This object uses `pause` for its waits. All arguments must outlive this object.
  HedgedAttempt(Worker& worker, Outgoing& out, net::Pause& pause, std::optional<Instant> deadline)
      : worker_(worker), out_(out), pause_(pause), deadline_(deadline) {}
  HedgedAttempt(const HedgedAttempt&) = delete;
  HedgedAttempt& operator=(const HedgedAttempt&) = delete;

  /// Starts an attempt; at most two attempts can be started. `client` gets the interim responses. `client` is
  /// null for the hedged copy, because only one attempt may pass interim responses.
  void start(const policy::Start&, net::ClientEnd* client, Response&);
  /// Waits until an attempt ends, and returns that attempt. Returns each attempt once. Null if no attempt has
  /// ended by the time for the copy: `due`, or later when attempt 1 has sent a body that was incomplete at
  /// `due`. A body that can no longer be held is not waited for, because no copy can send it.
  Task<Runner*> next_end(Instant due);
  /// Cancels attempt `number`, waits for its end and discards its response. Does nothing if `next_end` has
  /// already returned this attempt.
  Task<void> stop(unsigned number);
  /// Discards the responses of all attempts that `next_end` returned, except `*worth_keeping`. If
  /// `worth_keeping` is null, discards all these responses.
  Task<void> drop_losers(const Response* worth_keeping);
  /// Returns true if `next_end` or `stop` must still be called: an attempt is running, or has ended but was
  /// not returned by `next_end`.
  bool goes_on() const;
  /// Cancels both attempts.
  void cancel() override;
  /// Checks the liveness of both attempts.
  void check_liveness() override;

 private:
  static Task<void> run(HedgedAttempt&, Runner&, policy::Start, net::ClientEnd* client);

  Worker& worker_;
  Outgoing& out_;
  net::Pause& pause_;
  std::optional<Instant> deadline_;
  std::array<Runner, 2> runners_;
};

/// Returns the observed latency of this route's first attempts. Null if the route does not use the observed
/// latency.
policy::ObservedLatency* latency_of(Worker&, const Route&);
/// Returns a report of an attempt that has no response yet.
policy::AttemptReport report_of_slow(const Outgoing&, unsigned number);

}  // namespace reprise::forward
