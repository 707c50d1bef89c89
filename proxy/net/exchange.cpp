#include "proxy/net/exchange.hpp"

#include "proxy/net/attempt_tunnel.hpp"
#include "proxy/net/deliver.hpp"
#include "proxy/net/host_share.hpp"
#include "proxy/net/race.hpp"
#include "proxy/net/record.hpp"
#include "proxy/net/resume.hpp"

namespace reprise::net {

using policy::Actions;

namespace {

// So long an answer's body may arrive even in a wait of no length, lest a later failure loses it.
constexpr Duration keep_grace = std::chrono::seconds(1);

/// The state machine of one exchange, and what it works with.
class Run {
 public:
  Run(Loop& loop, Request& request, ClientSide client, policy::HostShare host)
      : loop_(loop),
        request_(request),
        client_(client),
        machine_(*request.policy, request.facts, host, request.started, latency_of(loop, request)),
        live_(&request.live),
        kept_(request.kept) {}

  /// What to do next, or null if it is something else.
  template <typename Kind>
  const Kind* next() const {
    // Of two actions the first cancels an attempt, and the watch has done that: the last is the one to obey.
    return actions_.size() == 0 ? nullptr : std::get_if<Kind>(&actions_[actions_.size() - 1]);
  }
  bool over() const { return actions_.size() == 0; }

  void begin() { actions_ = machine_.begin(Tick::now(), loop_.dice); }
  /// True if the attempt that is to start gets a copy beside it once it is slow.
  bool may_race() const;
  Task<void> race(policy::Start);
  void attempted(const AttemptResult&);
  Task<void> wait(policy::Wait wait);
  /// Where the next attempt's answer goes, and the last one's lies.
  Answer& live() { return *live_; }
  Answer& chosen(policy::Deliver);
  void delivered(const Delivered&, Answer&);
  Task<void> resume(policy::Resume);
  Task<void> continue_body();
  Task<void> end_without_answer();

  std::optional<Instant> deadline() const { return machine_.deadline(); }
  const policy::Ledger& ledger() const { return machine_.ledger(); }
  const Served& served() const { return served_; }

 private:
  void stay_alone_if_left();
  Task<void> keep(Instant until);
  Actions tell_departures();
  void resumed(const AttemptResult&);
  void body_ended(Relayed::End, policy::Cause, std::uint64_t bytes);

  Loop& loop_;
  Request& request_;
  ClientSide client_;
  policy::Exchange machine_;
  Actions actions_;
  Answer* live_;
  Answer& kept_;
  ClientState client_state_ = ClientState::present;
  std::unique_ptr<Resumption> resumption_;  ///< once the delivered body broke
  Served served_;
  bool answer_begun_ = false;  ///< some of its head may be with the client, even where no status was told
};

// An upgrade is no copy's business: two upstreams might switch protocols.
bool Run::may_race() const {
  return machine_.hedge_at() && !request_.tunnel && !request_.upgrade && !request_.bound;
}

// The machine says when a copy is due, and whether an end is the end of both.
Task<void> Run::race(policy::Start start) {
  Race race(loop_, request_, client_.pause, machine_.deadline());
  client_.watch.set_attempt(&race);
  race.start(start, &client_.stream, request_.live);
  Answer* latest = nullptr;
  for (actions_ = {}; actions_.size() == 0;) {
    const Race::Runner* ended = co_await race.next_end(machine_.hedge_at().value_or(Instant::max()));
    if (ended == nullptr) {
      stay_alone_if_left();
      actions_ = machine_.hedge_due(report_of_slow(request_, start.number), Tick::now());
      if (const auto* copy = next<policy::Start>()) race.start(*copy, nullptr, request_.copy);
      actions_ = {};
    } else {
      const bool broken = policy::is_broken_answer(ended->result.outcome);
      if (broken || std::holds_alternative<policy::Answered>(ended->result.outcome)) latest = ended->answer;
      attempted(ended->result);
    }
  }
  client_.watch.set_attempt(nullptr);
  co_await race.stop(latest);
  live_ = latest == nullptr ? &request_.live : latest;
}

// No copy is begun for a client that has left, nor at shutdown (rows D14, D15).
void Run::stay_alone_if_left() {
  Watch& watch = client_.watch;
  watch.look();
  if (watch.client_finished() || watch.client_reset()) machine_.client_finished(Tick::now());
  if (watch.shutting_down()) machine_.shutdown(Tick::now());
}

void Run::attempted(const AttemptResult& result) {
  client_state_ = result.client;
  const Instant now = Tick::now();
  if (result.client != ClientState::present || client_.watch.client_reset()) {
    actions_ = machine_.client_reset(now);
    return;
  }
  tell_departures();
  const auto* answered = std::get_if<policy::Answered>(&result.outcome);
  actions_ = answered != nullptr
                 ? machine_.answered(result.report, *answered, now, loop_.dice)
                 : machine_.failed(result.report, std::get<policy::Failed>(result.outcome), now, loop_.dice);
  narrate(loop_, request_, machine_.ledger()[result.report.number - 1]);
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
  const std::size_t most = loop_.shared.settings.limits.kept_answer_bytes;
  if (live_->kept && live_->body.size() > most) live_->clear();
  if (live_->connection != nullptr && !request_.tunnel) {
    client_.watch.set_wait(&live_->connection->stream());  // a departure ends the reading too (row L17)
    co_await keep_answer(loop_.pool, *live_, most, limit);
    client_.watch.set_wait(nullptr);
  }
  if (live_->kept) {
    machine_.answer_kept();
    std::swap(kept_, *live_);
  } else {
    machine_.answer_dropped();
  }
  live_->clear();
}

Task<void> Run::wait(policy::Wait wait) {
  // An answer that broke while it was held is for nobody once the attempt is tried again.
  if (live_->broken && resumption_ == nullptr) live_->clear();
  if (live_->any() && resumption_ == nullptr) co_await keep(wait.until);
  Watch& watch = client_.watch;
  watch.look();
  actions_ = tell_departures();
  // A departure may leave the wait as it is: attempt 1 always starts.
  while (actions_.size() == 0 && Tick::now() < wait.until) {
    watch.set_wait(&client_.pause);
    co_await client_.pause.until(wait.until);
    watch.set_wait(nullptr);
    watch.look();
    actions_ = tell_departures();
  }
  if (actions_.size() == 0) actions_ = machine_.waited(Tick::now());
}

Answer& Run::chosen(policy::Deliver deliver) {
  if (live_->number == deliver.number) return *live_;
  live_->clear();
  return kept_;
}

void Run::delivered(const Delivered& delivered, Answer& answer) {
  served_ = delivered.served;
  answer_begun_ = true;
  if (delivered.end == Relayed::End::broken) resumption_ = std::make_unique<Resumption>(request_, answer);
  body_ended(delivered.end, delivered.cause, delivered.served.response_bytes);
}

void Run::body_ended(Relayed::End end, policy::Cause cause, std::uint64_t bytes) {
  actions_ = {};
  if (end == Relayed::End::complete) {
    machine_.delivered();
  } else if (end == Relayed::End::client_gone) {
    actions_ = machine_.client_reset(Tick::now());
  } else {
    client_.watch.look();
    actions_ = tell_departures();
    if (actions_.size() > 0) return;
    actions_ = machine_.body_broke(resumption_->broke(cause, bytes), Tick::now(), loop_.dice);
  }
}

Task<void> Run::resume(policy::Resume resume) {
  resumption_->ask();
  Stop stop;
  client_.watch.set_attempt(&stop);
  const AttemptResult result = co_await attempt(loop_, request_, nullptr, stop, {resume.number, true},
                                                std::nullopt, resumption_->answer());
  client_.watch.set_attempt(nullptr);
  resumed(result);
}

void Run::resumed(const AttemptResult& result) {
  const Instant now = Tick::now();
  if (client_.watch.client_reset()) {
    actions_ = machine_.client_reset(now);
    return;
  }
  tell_departures();
  if (const auto* answered = std::get_if<policy::Answered>(&result.outcome)) {
    actions_ = resumption_->judge(machine_, result.report, *answered, now, loop_.dice);
  } else {
    actions_ = machine_.failed(result.report, std::get<policy::Failed>(result.outcome), now, loop_.dice);
  }
  narrate(loop_, request_, machine_.ledger().back());
}

Task<void> Run::continue_body() {
  client_.watch.set_attempt(&resumption_->answer().connection->stream());
  Relayed relayed = co_await resumption_->relay_rest(loop_.pool, client_.stream);
  count_limit(loop_.shared.metrics, relayed, client_.stream);
  client_.watch.set_attempt(nullptr);
  served_.response_bytes += relayed.bytes;
  if (relayed.end == Relayed::End::broken && client_.watch.client_reset())
    relayed.end = Relayed::End::client_gone;
  body_ended(relayed.end, relayed.cause, relayed.bytes);
}

// Fail, Cut or Leave: no whole answer of an upstream's reaches the client; into an open tunnel, none of ours.
Task<void> Run::end_without_answer() {
  const auto* fail = next<policy::Fail>();
  const bool gateway_timeout = fail != nullptr && fail->gateway_timeout;
  const bool cut = next<policy::Cut>() != nullptr || (fail != nullptr && request_.opened);
  actions_ = {};
  if (fail != nullptr && !cut) {
    served_ = co_await deliver_failure(loop_, request_, client_, machine_.ledger(), gateway_timeout);
  } else if (client_state_ == ClientState::malformed) {
    served_ = co_await deliver_rejection(loop_, request_, client_, request_.body.malformation());
  } else {
    // A client that is only slow is still there: a part of an answer must not look whole (row I5).
    if (cut || answer_begun_) client_.stream.cut();
    served_.ending = cut ? observe::Ending::cut : observe::Ending::client_gone;
    served_.keep_alive = false;
  }
}

}  // namespace

Task<Served> exchange(Loop& loop, Request& request, ClientSide client) {
  Run run(loop, request, client, host_share(loop, request));
  run.begin();
  while (!run.over()) {
    if (const auto* start = run.next<policy::Start>()) {
      if (run.may_race()) {
        co_await run.race(*start);
      } else {
        Stop stop;
        client.watch.set_attempt(&stop);
        const AttemptResult result =
            co_await try_once(loop, request, client, stop, *start, run.deadline(), run.live());
        client.watch.set_attempt(nullptr);
        run.attempted(result);
      }
    } else if (const auto* wait = run.next<policy::Wait>()) {
      co_await run.wait(*wait);
    } else if (const auto* deliver = run.next<policy::Deliver>()) {
      Answer& answer = run.chosen(*deliver);
      run.delivered(co_await deliver_answer(loop, request, client, run.ledger(), answer), answer);
    } else if (const auto* resume = run.next<policy::Resume>()) {
      co_await run.resume(*resume);
    } else if (run.next<policy::Continue>() != nullptr) {
      co_await run.continue_body();
    } else {
      co_await run.end_without_answer();
    }
  }
  request.ledger = run.ledger();
  co_return run.served();
}

}  // namespace reprise::net
