#include "proxy/net/exchange.hpp"

#include "proxy/net/attempt.hpp"
#include "proxy/net/deliver.hpp"

namespace reprise::net {

using policy::Actions;

namespace {

// A wait of no length still gives an answer's body this long to arrive, so that it is not lost to a later
// failure.
constexpr Duration keep_grace = std::chrono::seconds(1);

/// One run of the state machine against sockets.
class Run {
 public:
  Run(Loop& loop, Request& request, ClientSide client, policy::Budget* budget)
      : loop_(loop),
        request_(request),
        client_(client),
        machine_(*request.policy, request.facts, budget, request.started),
        live_(request.live),
        kept_(request.kept) {}

  Task<Served> to_the_end();
  const policy::Ledger& ledger() const { return machine_.ledger(); }

 private:
  Task<Actions> start(policy::Start start);
  Task<Actions> wait(policy::Wait wait);
  Task<Actions> deliver(policy::Deliver deliver);
  Task<void> keep(Instant until);
  Actions tell_departures();

  Loop& loop_;
  Request& request_;
  ClientSide client_;
  policy::Exchange machine_;
  Answer& live_;
  Answer& kept_;
  ClientState client_state_ = ClientState::present;
  Served served_;
};

Task<Served> Run::to_the_end() {
  Actions actions = machine_.begin(Tick::now());
  while (actions.size() > 0) {
    // A cancelled attempt has ended already: what cancels it here is the watch. The last action is the one to
    // obey.
    const policy::Action action = actions[actions.size() - 1];
    actions = {};
    if (const auto* attempt_action = std::get_if<policy::Start>(&action)) {
      actions = co_await start(*attempt_action);
    } else if (const auto* wait_action = std::get_if<policy::Wait>(&action)) {
      actions = co_await wait(*wait_action);
    } else if (const auto* deliver_action = std::get_if<policy::Deliver>(&action)) {
      actions = co_await deliver(*deliver_action);
    } else if (const auto* fail = std::get_if<policy::Fail>(&action)) {
      served_ = co_await deliver_failure(loop_, request_, client_, machine_.ledger(), fail->gateway_timeout);
    } else if (std::holds_alternative<policy::Cut>(action)) {
      client_.stream.cut();
      served_.ending = observe::Ending::cut;
      served_.keep_alive = false;
    } else if (client_state_ == ClientState::malformed) {
      served_ = co_await deliver_rejection(loop_, request_, client_, request_.body.malformation());
    } else {
      served_.ending = observe::Ending::client_gone;
      served_.keep_alive = false;
    }
  }
  co_return served_;
}

Task<Actions> Run::start(policy::Start start) {
  AttemptResult result = request_.tunnel
                             ? co_await attempt_connect(loop_, request_, client_.watch, start, live_)
                             : co_await attempt(loop_, request_, client_.stream, client_.watch, start,
                                                machine_.deadline(), live_);
  client_state_ = result.client;
  const Instant now = Tick::now();
  if (result.client != ClientState::present || client_.watch.client_reset())
    co_return machine_.client_reset(now);
  tell_departures();
  if (const auto* answered = std::get_if<policy::Answered>(&result.outcome)) {
    co_return machine_.answered(result.report, *answered, now, loop_.dice);
  }
  co_return machine_.failed(result.report, std::get<policy::Failed>(result.outcome), now, loop_.dice);
}

// What the watch has seen; an answer only while the machine waits.
Actions Run::tell_departures() {
  const Watch& watch = client_.watch;
  const Instant now = Tick::now();
  if (watch.client_reset()) return machine_.client_reset(now);
  if (watch.client_finished()) {
    if (Actions actions = machine_.client_finished(now); actions.size() > 0) return actions;
  }
  return watch.shutting_down() ? machine_.shutdown(now) : Actions{};
}

// Meanwhile the refused answer is read, so that it can be given if nothing better follows.
Task<void> Run::keep(Instant until) {
  Instant limit = std::max(until, Tick::now() + keep_grace);
  if (const auto deadline = machine_.deadline()) limit = std::min(limit, std::max(until, *deadline));
  kept_.clear();
  if (live_.connection != nullptr && !request_.tunnel) {
    client_.watch.set_attempt(&live_.connection->stream());
    co_await keep_answer(loop_.pool, live_, loop_.shared.settings.limits.kept_answer_bytes, limit);
    client_.watch.set_attempt(nullptr);
  }
  if (live_.kept) {
    machine_.answer_kept();
    std::swap(kept_, live_);
  } else {
    machine_.answer_dropped();
  }
  live_.clear();
}

Task<Actions> Run::wait(policy::Wait wait) {
  if (live_.any()) co_await keep(wait.until);
  Watch& watch = client_.watch;
  watch.look();
  const bool undisturbed = !watch.client_reset() && !watch.client_finished() && !watch.shutting_down();
  if (undisturbed && wait.until > Tick::now()) {
    watch.set_wait(&client_.pause);
    co_await client_.pause.until(wait.until);
    watch.set_wait(nullptr);
    watch.look();
  }
  if (Actions actions = tell_departures(); actions.size() > 0) co_return actions;
  co_return machine_.waited(Tick::now());
}

Task<Actions> Run::deliver(policy::Deliver deliver) {
  Answer& chosen = live_.number == deliver.number ? live_ : kept_;
  if (&chosen == &kept_) live_.clear();
  const Delivered delivered = co_await deliver_answer(loop_, request_, client_, machine_.ledger(), chosen);
  served_ = delivered.served;
  if (delivered.end == Relayed::End::complete) {
    machine_.delivered();
    co_return Actions{};
  }
  if (delivered.end == Relayed::End::client_gone) co_return machine_.client_reset(Tick::now());
  co_return machine_.body_broke(delivered.cause, Tick::now());
}

}  // namespace

Task<Served> exchange(Loop& loop, Request& request, ClientSide client) {
  policy::Budget* budget = nullptr;
  if (request.policy->budget && request.policy->mode != policy::Mode::off) {
    const Purse purse = request.policy->mode == policy::Mode::observe ? Purse::shadow : Purse::real;
    budget = loop.pool.budget(*request.upstream, *request.policy->budget, purse);
  }
  Run run(loop, request, client, budget);
  const Served served = co_await run.to_the_end();
  request.ledger = run.ledger();
  co_return served;
}

}  // namespace reprise::net
