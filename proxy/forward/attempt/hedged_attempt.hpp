// A slow attempt and the copy beside it: runs both and tells each end, one after the other.
#pragma once

#include <array>

#include "proxy/forward/attempt/attempt.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Of one request whose body was read whole before the copy starts. Each copy must have ended or be stopped
/// before it is destroyed, but where the thread itself ends.
class HedgedAttempt final : public net::Cancellable {
 public:
  struct Runner {
    unsigned number = 0;
    AttemptResult result;
    Response* response = nullptr;
    net::AttemptCancel cancel;
    enum class State : std::uint8_t { idle, running, ended, told } state = State::idle;
  };

  /// `pause` serves the waits in between. Everything must outlive the race.
  HedgedAttempt(Worker& worker, Outgoing& out, net::Pause& pause, std::optional<Instant> deadline)
      : worker_(worker), out_(out), pause_(pause), deadline_(deadline) {}
  HedgedAttempt(const HedgedAttempt&) = delete;
  HedgedAttempt& operator=(const HedgedAttempt&) = delete;

  /// At most two. `client` gets the interim responses; null for the copy, since only one may speak.
  void start(const policy::Start&, net::Stream* client, Response&);
  /// The next one that has ended, each once; null if none has by `due`.
  Task<Runner*> next_end(Instant due);
  /// Ends that attempt if its end was not told yet, waits for it, and drops its response.
  Task<void> stop(unsigned number);
  /// Drops the response of each end that was told, but for `worth_keeping` (may be null).
  Task<void> drop_losers(const Response* worth_keeping);
  /// False once every end was told, or stopped.
  bool goes_on() const;
  /// The client has left: both end.
  void cancel() override;
  /// Both do.
  void look_out() override;

 private:
  static Task<void> run(HedgedAttempt&, Runner&, policy::Start, net::Stream* client);

  Worker& worker_;
  Outgoing& out_;
  net::Pause& pause_;
  std::optional<Instant> deadline_;
  std::array<Runner, 2> runners_;
};

/// Where the request's route learns how long first attempts take; null where nobody goes by it.
policy::ObservedLatency* latency_of(Worker&, const Route&);
/// What is known of an attempt that has no response yet.
policy::AttemptReport report_of_slow(const Outgoing&, unsigned number);

}  // namespace reprise::forward
