#include "proxy/forward/attempt/hedged_attempt.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <cassert>

namespace reprise::forward {

using State = HedgedAttempt::Runner::State;

policy::ObservedLatency* latency_of(Worker& worker, const Route& route) {
  const auto& hedge = route.policy->hedge;
  return hedge && !hedge->after ? &worker.latency(route.snapshot->counted_as[route.number]) : nullptr;
}

policy::AttemptReport report_of_slow(const Outgoing& out, unsigned number) {
  const RequestBody& body = out.body;
  return {false, policy::Sent::maybe, body.complete() && body.replayable(), out.judge_now(), number};
}

void HedgedAttempt::start(const policy::Start& start, net::ClientEnd* client, Response& response) {
  Runner& runner = runners_[0].state == State::idle ? runners_[0] : runners_[1];
  assert(runner.state == State::idle);
  if (&runner != runners_.data()) out_.may_hold_stream = true;
  runner.number = start.number;
  runner.response = &response;
  runner.state = State::running;
  asio::co_spawn(worker_.io.get_executor(), run(*this, runner, start, client), or_abort);
}

Task<void> HedgedAttempt::run(HedgedAttempt& race, Runner& runner, policy::Start start,
                              net::ClientEnd* client) {
  OneAttempt one{race.worker_, race.out_, client, runner.cancel, race.deadline_, *runner.response};
  co_await attempt(one, start);
  runner.result = one.result;
  runner.state = State::ended;
  race.pause_.cancel();
}

Task<HedgedAttempt::Runner*> HedgedAttempt::next_end(Instant due) {
  const RequestBody& body = out_.body;
  const auto waiting = out_.body.wake_at_end(pause_);
  for (;;) {
    for (Runner& runner : runners_) {
      if (runner.state != State::ended) continue;
      runner.state = State::reported;
      co_return &runner;
    }
    const bool is_due = net::Tick::now() >= due;
    if (is_due && (body.may_be_shared() || !body.replayable())) co_return nullptr;
    co_await pause_.until(is_due ? Instant::max() : due);
  }
}

bool HedgedAttempt::goes_on() const {
  return std::any_of(runners_.begin(), runners_.end(), [](const Runner& runner) {
    return runner.state == State::running || runner.state == State::ended;
  });
}

void HedgedAttempt::cancel() {
  for (Runner& runner : runners_) {
    if (runner.state == State::running) runner.cancel.cancel();
  }
}

void HedgedAttempt::check_liveness() {
  for (Runner& runner : runners_) {
    if (runner.state == State::running) runner.cancel.check_liveness();
  }
}

Task<void> HedgedAttempt::stop(unsigned number) {
  for (Runner& runner : runners_) {
    if (runner.number != number) continue;
    if (runner.state == State::running) runner.cancel.cancel();
    while (runner.state == State::running) co_await pause_.until(Instant::max());
    if (runner.state != State::ended) continue;
    runner.state = State::reported;
    co_await runner.response->stop_sending();
    runner.response->clear();
  }
}

Task<void> HedgedAttempt::drop_losers(const Response* worth_keeping) {
  for (Runner& runner : runners_) {
    if (runner.state != State::reported || runner.response == worth_keeping) continue;
    co_await runner.response->stop_sending();
    runner.response->clear();
  }
}

}  // namespace reprise::forward
