// A slow attempt and the copy beside it: runs both and tells each end, one after the other.
#pragma once

#include <array>

#include "proxy/net/attempt.hpp"
#include "proxy/net/pause.hpp"

namespace reprise::net {

/// Of one request whose body was read whole before the copy starts. Must be stopped before it is destroyed.
class Race final : public Cancellable {
 public:
  struct Runner {
    AttemptResult result;
    Answer* answer = nullptr;
    Stop stop;
    enum class State : std::uint8_t { idle, running, ended, told } state = State::idle;
  };

  /// `pause` serves the waits in between. Everything must outlive the race.
  Race(Loop& loop, Request& request, Pause& pause, std::optional<Instant> deadline)
      : loop_(loop), request_(request), pause_(pause), deadline_(deadline) {}
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  /// At most two. `client` gets the interim answers; null for the copy, since only one may speak.
  void start(const policy::Start&, Stream* client, Answer&);
  /// The next one that has ended, each once; null if none has by `due`.
  Task<Runner*> next_end(Instant due);
  /// Ends what still runs, waits for it, and drops every answer but `worth_keeping` (may be null).
  Task<void> stop(const Answer* worth_keeping);
  /// The client has left: both end.
  void cancel() override;
  /// Both do.
  void look_out() override;

 private:
  static Task<void> run(Race&, Runner&, policy::Start, Stream* client);
  bool any_runs() const;

  Loop& loop_;
  Request& request_;
  Pause& pause_;
  std::optional<Instant> deadline_;
  std::array<Runner, 2> runners_;
};

/// Where the request's route learns how long first attempts take; null where nobody goes by it.
policy::ObservedLatency* latency_of(Loop&, const Request&);
/// What is known of an attempt that has no answer yet.
policy::AttemptReport report_of_slow(const Request&, unsigned number);

}  // namespace reprise::net
