#include "proxy/net/race.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

namespace reprise::net {

using State = Race::Runner::State;

policy::ObservedLatency* latency_of(Loop& loop, const Request& request) {
  const auto& hedge = request.policy->hedge;
  return hedge && !hedge->after && !request.tunnel ? &loop.latency(request.route) : nullptr;
}

policy::AttemptReport report_of_slow(const Request& request, unsigned number) {
  const RequestBody& body = request.body;
  return {false, policy::Sent::maybe, body.complete() && body.replayable(), judge_now(request), number};
}

void Race::start(const policy::Start& start, Stream* client, Answer& answer) {
  Runner& runner = runners_[0].state == State::idle ? runners_[0] : runners_[1];
  runner.answer = &answer;
  runner.state = State::running;
  asio::co_spawn(loop_.io.get_executor(), run(*this, runner, start, client), or_abort);
}

Task<void> Race::run(Race& race, Runner& runner, policy::Start start, Stream* client) {
  runner.result =
      co_await attempt(race.loop_, race.request_, client, runner.stop, start, race.deadline_, *runner.answer);
  runner.state = State::ended;
  race.pause_.cancel();
}

Task<Race::Runner*> Race::next_end(Instant due) {
  for (;;) {
    for (Runner& runner : runners_) {
      if (runner.state != State::ended) continue;
      runner.state = State::told;
      co_return &runner;
    }
    if (Tick::now() >= due) co_return nullptr;
    co_await pause_.until(due);
  }
}

bool Race::any_runs() const {
  return std::any_of(runners_.begin(), runners_.end(),
                     [](const Runner& runner) { return runner.state == State::running; });
}

void Race::cancel() {
  for (Runner& runner : runners_) {
    if (runner.state == State::running) runner.stop.cancel();
  }
}

void Race::look_out() {
  for (Runner& runner : runners_) {
    if (runner.state == State::running) runner.stop.look_out();
  }
}

Task<void> Race::stop(const Answer* worth_keeping) {
  cancel();
  while (any_runs()) co_await pause_.until(Instant::max());
  for (Runner& runner : runners_) {
    if (runner.answer != nullptr && runner.answer != worth_keeping) runner.answer->clear();
  }
}

}  // namespace reprise::net
