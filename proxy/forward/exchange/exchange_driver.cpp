#include "proxy/forward/exchange/exchange_driver.hpp"

#include <cassert>

#include "proxy/forward/exchange/attempt_tunnel.hpp"
#include "proxy/forward/exchange/host_share.hpp"
#include "proxy/forward/exchange/record.hpp"

namespace reprise::forward {

using policy::Actions;

namespace {

// Minimum time to read the body of a response that may have to be delivered later.
constexpr Duration keep_grace = std::chrono::seconds(1);

policy::Exchange& start_machine(Worker& worker, Request& request) {
  const Route& route = request.route;
  policy::ObservedLatency* const latency = request.tunnel() == nullptr ? latency_of(worker, route) : nullptr;
  return request.machine.emplace(*route.policy, route.facts, host_share(worker, route), request.in.started,
                                 latency);
}

}  // namespace

Task<Served> exchange(OneExchange& one) {
  ExchangeDriver driver(one);
  for (Actions asked = driver.next(); asked.size() > 0; asked = driver.next()) {
    for (const policy::Action& action : asked) {
      if (Response* const overtaken = driver.overtaken_without(action)) co_await overtaken->stop_sending();
      if (Resumption* const stalled = driver.stalled_without(action)) co_await stalled->drop_stalled();
      co_await driver.obey(action);
      driver.report_result();
    }
  }
  co_return driver.end();
}

ExchangeDriver::ExchangeDriver(OneExchange& one)
    : one_(one),
      worker_(one.worker),
      request_(one.request),
      client_(one_.client),
      machine_(start_machine(worker_, request_)),
      actions_(machine_.begin(net::Tick::now(), worker_.dice)),
      live_(&request_.responses.live),
      kept_(request_.responses.kept) {
  request_.number = worker_.histories == nullptr ? 0 : worker_.histories->next_number();
}

Actions ExchangeDriver::next() {
  // No I/O is pending here. So either the state machine has an action to execute, or the exchange is over.
  assert(policy::leads_on(machine_, actions_));
  return std::exchange(actions_, {});
}

Response* ExchangeDriver::overtaken_without(const policy::Action& action) {
  if (live_->sending == nullptr) return nullptr;
  const auto* deliver = std::get_if<policy::Deliver>(&action);
  return deliver != nullptr && deliver->number == live_->number ? nullptr : live_;
}

Resumption* ExchangeDriver::stalled_without(const policy::Action& action) {
  const bool goes_on = std::holds_alternative<policy::Wait>(action) ||
                       std::holds_alternative<policy::Resume>(action) ||
                       std::holds_alternative<policy::Continue>(action);
  return resumption_ == nullptr || goes_on ? nullptr : resumption_.get();
}

Served ExchangeDriver::end() {
  assert(machine_.over());
  assert(!hedge_ || !hedge_->goes_on());  // the state machine has cancelled any attempt that still ran
  return served_;
}

// This function is not a coroutine, because allocating a coroutine frame would slow down every request.
Task<void> ExchangeDriver::obey(const policy::Start& start) {
  if (machine_.hedge_at()) return start_hedged(start);
  LoneAttempt& alone = alone_.emplace(one_, machine_.deadline(), *live_);
  TunnelRequest* const tunnel = request_.tunnel();
  return tunnel == nullptr ? attempt(alone.one, start) : attempt_tunnel(alone.one, one_, *tunnel, start);
}

void ExchangeDriver::report_result() {
  if (alone_) {
    attempted(alone_->one.result);
    alone_.reset();
  } else if (delivery_) {
    delivered(delivery_->delivery_result);
    delivery_.reset();
  }
}

// Runs an attempt and, when the state machine asks for it, a hedged copy of the attempt. When one of these
// two ends, the state machine decides whether the other attempt is stopped.
Task<void> ExchangeDriver::start_hedged(policy::Start start) {
  hedge_ = std::make_unique<HedgedAttempt>(worker_, request_.out, client_.pause, machine_.deadline());
  HedgedAttempt& race = *hedge_;
  const net::ClientWatch::Attempt watched(client_.watch, &race);
  race.start(start, &client_.end, request_.responses.live);
  Response* latest = nullptr;
  while (actions_.size() == 0 && race.goes_on()) {
    const HedgedAttempt::Runner* ended = co_await race.next_end(machine_.hedge_at().value_or(Instant::max()));
    if (ended == nullptr) {
      start_copy(race, start.number);
    } else {
      const bool broken = policy::is_broken_response(ended->result.outcome);
      if (broken || std::holds_alternative<policy::Responded>(ended->result.outcome))
        latest = ended->response;
      attempted(ended->result);
    }
  }
  co_await race.drop_losers(latest);
  live_ = latest == nullptr ? &request_.responses.live : latest;
}

void ExchangeDriver::start_copy(HedgedAttempt& race, unsigned slow) {
  // No hedged copy starts after the client has left or during a shutdown (rows D14, D15). So this code checks
  // for both events now.
  client_.watch.look();
  const net::ClientWatch& watch = client_.watch;
  const Instant now = net::Tick::now();
  if (watch.client_finished() || watch.client_reset()) note(machine_.client_finished(now));
  if (watch.shutting_down()) note(machine_.shutdown(now));
  for (const policy::Action& action : machine_.hedge_due(report_of_slow(request_.out, slow), now)) {
    // If the state machine returns no action here, no hedged copy starts and the first attempt continues
    // alone.
    race.start(std::get<policy::Start>(action), nullptr, request_.responses.copy);
  }
}

void ExchangeDriver::attempted(const AttemptResult& result) {
  client_state_ = result.client;
  const Instant now = net::Tick::now();
  if (result.client != ClientState::present || client_.watch.client_reset()) {
    const auto* failed = std::get_if<policy::Failed>(&result.outcome);
    const policy::StoppedAttempt stopped{result.report,
                                         failed != nullptr ? failed->stage : policy::Stage::await_head};
    actions_ = client_state_ == ClientState::malformed ? machine_.rejected(now, stopped)
                                                       : machine_.client_reset(now, stopped);
    return;
  }
  if (client_.watch.has_news()) note(report_departures());
  const auto* responded = std::get_if<policy::Responded>(&result.outcome);
  actions_ = responded != nullptr ? machine_.responded(result.report, *responded, now, worker_.dice)
                                  : machine_.failed(result.report, std::get<policy::Failed>(result.outcome),
                                                    now, worker_.dice);
  log_decision(worker_, request_, machine_.ledger()[result.report.number - 1]);
}

// Reports the client's departure or a shutdown to the state machine. The state machine returns actions only
// if it is waiting or delivering.
Actions ExchangeDriver::report_departures() {
  const net::ClientWatch& watch = client_.watch;
  const Instant now = net::Tick::now();
  if (watch.client_reset()) return machine_.client_reset(now);
  if (watch.client_finished()) {
    if (Actions actions = machine_.client_finished(now); actions.size() > 0) return actions;
  }
  return watch.shutting_down() ? machine_.shutdown(now) : Actions{};
}

// Checks that the state machine returned no actions. For the client's departure or a shutdown that is
// reported during an attempt, the state machine never returns any.
void ExchangeDriver::note(const Actions& nothing) {
  assert(nothing.size() == 0);
  static_cast<void>(nothing);
}

// Stops an attempt and discards its response. Only hedged attempts can still be running here, because an
// attempt without a copy ends before its result is reported.
Task<void> ExchangeDriver::obey(const policy::Cancel& cancel) {
  if (hedge_) co_await hedge_->stop(cancel.number);
  for (Response* response : {live_, &kept_}) {
    if (response->number == cancel.number) response->clear();
  }
  if (resumption_ != nullptr && resumption_->response().number == cancel.number)
    resumption_->response().clear();
}

// Reads the body of a refused response during the wait, so that this response can be delivered if no better
// one follows.
Task<void> ExchangeDriver::keep(Instant until) {
  Instant limit = std::max(until, net::Tick::now() + keep_grace);
  if (const auto deadline = machine_.deadline()) limit = std::min(limit, std::max(until, *deadline));
  kept_.clear();
  const std::size_t most = request_.route.snapshot->settings.limits.kept_response_bytes;
  if (live_->kept && live_->body.size() > most) live_->clear();
  if (live_->connection && !live_->kept && request_.tunnel() == nullptr) {
    // This read also ends when the client leaves (row L17).
    const net::ClientWatch::Waiting waiting(client_.watch, live_->connection.end());
    co_await keep_response(worker_.pool, *live_, most, limit);
  }
  if (live_->kept) {
    machine_.response_kept();
    std::swap(kept_, *live_);
  } else {
    machine_.response_dropped();
  }
  live_->clear();
}

Task<void> ExchangeDriver::obey(const policy::Wait& wait) {
  // A response that broke while it was held is discarded when the attempt is retried.
  if (live_->broken && resumption_ == nullptr) live_->clear();
  if (live_->any() && resumption_ == nullptr) co_await keep(wait.until);
  net::ClientWatch& watch = client_.watch;
  watch.look();
  actions_ = report_departures();
  // If the client has left, the wait ends. Only the wait before attempt 1 continues, because attempt 1 always
  // starts.
  StalledBody* const stalled = resumption_ == nullptr ? nullptr : resumption_->stalled();
  while (actions_.size() == 0 && net::Tick::now() < wait.until) {
    {
      const net::ClientWatch::Waiting waiting(watch, client_.pause);
      const StalledBody::Race race(stalled, client_.pause);
      co_await client_.pause.until(wait.until);
    }
    watch.look();
    actions_ = report_departures();
    if (actions_.size() == 0 && resumption_ != nullptr && resumption_->is_awake()) body_went_on({});
  }
  if (actions_.size() == 0) actions_ = machine_.waited(net::Tick::now());
}

// This function is not a coroutine, because allocating a coroutine frame would slow down every request.
Task<void> ExchangeDriver::obey(const policy::Deliver& deliver) {
  const bool live = live_->number == deliver.number;
  if (!live) live_->clear();
  Delivery& delivery = delivery_.emplace(Delivery{live ? *live_ : kept_, {}});
  return deliver_response(one_, delivery.response, delivery.delivery_result);
}

void ExchangeDriver::delivered(const Delivered& delivery_result) {
  served_ = delivery_result.served;
  response_begun_ = true;
  is_framed_ = is_framed_for_client(request_.in, delivery_->response);
  if (delivery_result.reset_code) client_.end.break_with(*delivery_result.reset_code);
  broke_between_messages_ = delivery_result.between_messages;
  if (delivery_result.end == Relayed::End::broken)
    resumption_ = std::make_unique<Resumption>(request_.out, delivery_->response);
  body_ended(delivery_result.end, delivery_result.cause, delivery_result.served.response_bytes,
             delivery_result.stalled);
}

// Reports that the stalled body has continued. Discards the response that was requested to replace the rest
// of that body.
void ExchangeDriver::body_went_on(const policy::AttemptReport& report) {
  resumption_->response().clear();
  actions_ = machine_.body_went_on(report, net::Tick::now());
}

void ExchangeDriver::body_ended(Relayed::End end, policy::Cause cause, std::uint64_t bytes, bool stalled) {
  if (end == Relayed::End::complete) {
    machine_.delivered();
  } else if (end == Relayed::End::client_gone) {
    actions_ = machine_.client_reset(net::Tick::now());
  } else {
    client_.watch.look();
    actions_ = report_departures();
    if (actions_.size() > 0) return;
    actions_ = machine_.body_broke(resumption_->broke(cause, bytes, stalled), net::Tick::now(), worker_.dice);
  }
}

Task<void> ExchangeDriver::obey(const policy::Resume& resume) {
  resumption_->ask();
  net::AttemptCancel cancel;
  net::ClientWatch::Attempt watched(client_.watch, &cancel);
  const policy::Start again{resume.number, true};
  OneAttempt one{worker_, request_.out, nullptr, cancel, std::nullopt, resumption_->response()};
  const AttemptResult& result = one.result;
  {
    const StalledBody::Race race(resumption_->stalled(), cancel);
    co_await attempt(one, again);
  }
  watched.end();
  co_await resumption_->response().stop_sending();
  const Instant now = net::Tick::now();
  if (client_.watch.client_reset()) {
    actions_ = machine_.client_reset(now);
    co_return;
  }
  note(report_departures());
  if (resumption_->is_awake()) {
    body_went_on(result.report);
    co_return;
  }
  if (const auto* responded = std::get_if<policy::Responded>(&result.outcome)) {
    actions_ = resumption_->judge(machine_, result.report, *responded, now, worker_.dice);
  } else {
    actions_ = machine_.failed(result.report, std::get<policy::Failed>(result.outcome), now, worker_.dice);
  }
  log_decision(worker_, request_, machine_.ledger().back());
}

Task<void> ExchangeDriver::obey(const policy::Continue& rest) {
  net::ClientWatch::Attempt watched(client_.watch, &resumption_->end_of(rest.number));
  Relayed relayed = co_await resumption_->relay_rest(worker_.pool, client_.end, rest.number);
  watched.end();
  if (relayed.stalled && relayed.bytes == 0 && resumption_->is_awake()) {
    body_went_on({});
    co_return;
  }
  count_limit(worker_.shared.metrics, relayed, client_.end);
  served_.response_bytes += relayed.bytes;
  if (relayed.end == Relayed::End::broken && client_.watch.client_reset())
    relayed.end = Relayed::End::client_gone;
  body_ended(relayed.end, relayed.cause, relayed.bytes, relayed.stalled);
}

Task<void> ExchangeDriver::obey(const policy::Fail& fail) {
  const TunnelRequest* const tunnel = request_.tunnel();
  if (tunnel != nullptr && tunnel->progress != TunnelProgress::asked) {
    end_without_response(telemetry::Ending::cut);  // no generated response is sent into an open tunnel
  } else if (fail.close) {
    end_like_upstream();
  } else {
    served_ = co_await deliver_failure(one_, fail.gateway_timeout);
  }
}

// Delivers every byte that arrived, because clients resume a download after the last byte that they received
// (row B6).
Task<void> ExchangeDriver::obey(const policy::Cut&) {
  served_.ending = telemetry::Ending::cut;
  served_.keep_alive = false;
  if (broke_between_messages_) co_return co_await end_call();
  if (is_framed_) co_return;  // the session sends a FIN, and the framing shows that the response was cut
  co_await until_all_is_acknowledged(client_.end, client_.pause);
  client_.end.cut();
}

// Ends a gRPC call whose upstream connection was lost between two messages as a client without a proxy would
// see it (row M78).
Task<void> ExchangeDriver::end_call() {
  client_.end.add_end(
      "grpc-status: 14\r\n"
      "grpc-message: reprise: the connection to the upstream was lost after the response had begun\r\n");
  const ErrorCode error = co_await client_.end.send_rest(request_.route.snapshot->settings.timers.header);
  if (!error) served_.grpc = policy::GrpcStatus::unavailable;
}

Task<void> ExchangeDriver::obey(const policy::Leave&) {
  if (client_state_ == ClientState::malformed) {
    served_ = co_await deliver_rejection(one_, request_.out.body.malformation());
  } else {
    end_without_response(telemetry::Ending::client_gone);
  }
}

// Ends the client's connection in the same way as the upstream ended the upstream connection: FIN for FIN,
// RST for RST. So the client observes the same as without a proxy.
void ExchangeDriver::end_like_upstream() {
  const auto& failed = std::get<policy::Failed>(machine_.ledger().back().outcome);
  if (failed.cause == policy::Cause::reset) client_.end.cut();
  served_.ending = telemetry::Ending::cut;
  served_.keep_alive = false;
}

// Ends the exchange when the client got no complete response, neither the upstream's nor a generated one.
void ExchangeDriver::end_without_response(telemetry::Ending ending) {
  // A slow client may still be reading. It must not take a partial response for a complete one (row I5).
  if (ending == telemetry::Ending::cut || response_begun_) client_.end.cut();
  served_.ending = ending;
  served_.keep_alive = false;
}

}  // namespace reprise::forward
