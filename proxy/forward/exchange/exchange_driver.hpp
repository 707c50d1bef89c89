// The coroutines that obey policy::Exchange with sockets: attempts, waits, the kept response, the delivery.
#pragma once

#include <memory>
#include <optional>

#include "proxy/forward/attempt/hedged_attempt.hpp"
#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/one_exchange.hpp"
#include "proxy/forward/exchange/resume.hpp"
#include "proxy/forward/exchange/served.hpp"

namespace reprise::forward {

/// Runs to the end of the response (of the tunnel, for a byte stream). The ledger is then in
/// `Request::ledger`.
Task<Served> exchange(OneExchange&);

/// One exchange: the state machine, and what it works with. Whoever drives it obeys what `next` returns, one
/// action after the other, and tells what came of each, until there is nothing to obey any more.
class ExchangeDriver {
 public:
  /// `one` must outlive it.
  explicit ExchangeDriver(OneExchange& one);
  ExchangeDriver(const ExchangeDriver&) = delete;
  ExchangeDriver& operator=(const ExchangeDriver&) = delete;

  /// What the machine asks for now, each time once. Nothing at the end, and nowhere else.
  policy::Actions next();
  /// The download whose stalled body the action has no use for: it has to be dropped before. Null if there is
  /// none.
  Resumption* stalled_without(const policy::Action&);
  /// The response whose request is still being sent, unless the action delivers it: the sending has to end
  /// before the action is obeyed. Null if there is none.
  Response* overtaken_without(const policy::Action&);
  /// Does what one action asks for; the action must stay where it is. One without an overload of its own
  /// below does not compile.
  Task<void> obey(const policy::Action& action) {
    return std::visit([this](const auto& asked) { return obey(asked); }, action);
  }
  /// Tells the machine what came of the attempt or delivery that was just obeyed (decision 0021).
  void tell();
  /// Once it is over.
  Served end();

 private:
  struct LoneAttempt {
    LoneAttempt(const OneExchange& exchange, std::optional<Instant> deadline, Response& response)
        : watched(exchange.client.watch, &cancel),
          one{exchange.worker, exchange.request.out, &exchange.client.stream, cancel, deadline, response} {}
    net::AttemptCancel cancel;
    net::ClientWatch::Attempt watched;
    OneAttempt one;
  };
  struct Delivery {
    Response& response;
    Delivered came;
  };

  Task<void> obey(const policy::Start&);
  Task<void> obey(const policy::Wait&);
  Task<void> obey(const policy::Deliver&);
  Task<void> obey(const policy::Cancel&);
  Task<void> obey(const policy::Resume&);
  Task<void> obey(const policy::Continue&);
  Task<void> obey(const policy::Cut&);
  Task<void> obey(const policy::Fail&);
  Task<void> obey(const policy::Leave&);

  Task<void> start_hedged(policy::Start);
  void start_copy(HedgedAttempt&, unsigned slow);
  void attempted(const AttemptResult&);
  void delivered(const Delivered&);
  Task<void> keep(Instant until);
  policy::Actions tell_departures();
  static void note(const policy::Actions& nothing);
  void body_ended(Relayed::End, policy::Cause, std::uint64_t bytes, bool stalled);
  void body_went_on(const policy::AttemptReport&);
  void end_unanswered(telemetry::Ending);
  void end_like_upstream();

  OneExchange& one_;
  Worker& worker_;
  Request& request_;
  const ClientSide& client_;
  policy::Exchange& machine_;  ///< the request's, whose memory is lent again and again
  policy::Actions actions_;
  Response* live_;  ///< where the next attempt's response goes, and the last one's lies
  Response& kept_;
  ClientState client_state_ = ClientState::present;
  std::optional<LoneAttempt> alone_;        ///< under way, or to be told
  std::optional<Delivery> delivery_;        ///< under way, or to be told
  std::unique_ptr<HedgedAttempt> hedge_;    ///< once attempt 1 may get a copy
  std::unique_ptr<Resumption> resumption_;  ///< once the delivered body broke
  Served served_;
  bool is_framed_ = true;        ///< its client can tell a response that was cut from a whole one
  bool response_begun_ = false;  ///< some of its head may be with the client, even where no status was told
};

}  // namespace reprise::forward
