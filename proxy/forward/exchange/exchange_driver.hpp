// Executes the actions of policy::Exchange on sockets: attempts, waits, kept responses and the delivery.
#pragma once

#include <memory>
#include <optional>

#include "proxy/forward/attempt/hedged_attempt.hpp"
#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/one_exchange.hpp"
#include "proxy/forward/exchange/resume.hpp"
#include "proxy/forward/exchange/served.hpp"

namespace reprise::forward {

/// Serves the request until its response (for a byte stream, its tunnel) has ended. The ledger is then in
/// `Request::ledger`.
Task<Served> exchange(OneExchange&);

/// One exchange: the state machine and its I/O. The caller repeats three steps until there is no action left:
/// `next` returns actions, `obey` executes each of them in order, and `report_result` reports the result.
class ExchangeDriver {
 public:
  /// `one` must outlive this object.
  explicit ExchangeDriver(OneExchange& one);
  ExchangeDriver(const ExchangeDriver&) = delete;
  ExchangeDriver& operator=(const ExchangeDriver&) = delete;

  /// Returns the next actions of the state machine; each action is returned once. Returns no actions only if
  /// the exchange has ended.
  policy::Actions next();
  /// Returns the download whose stalled body must be dropped before the action is executed, because the
  /// action does not need that body. Null if no body must be dropped.
  Resumption* stalled_without(const policy::Action&);
  /// Returns the response whose request is still being sent, if the upload must be stopped before the action.
  /// An action that delivers this response does not need to stop the upload. Null if there is no upload to
  /// stop.
  Response* overtaken_without(const policy::Action&);
  /// Executes one action. The action must stay valid until the task ends. Each kind of action needs its own
  /// overload of `obey`; if one is missing, this function does not compile.
  Task<void> obey(const policy::Action& action) {
    return std::visit([this](const auto& asked) { return obey(asked); }, action);
  }
  /// Reports to the state machine (decision 0021) the result of the attempt or delivery that has just ended.
  void report_result();
  /// Returns the result of the exchange. Precondition: the exchange is over.
  Served end();

 private:
  struct LoneAttempt {
    LoneAttempt(const OneExchange& exchange, std::optional<Instant> deadline, Response& response)
        : watched(exchange.client.watch, &cancel),
          one{exchange.worker, exchange.request.out, &exchange.client.end, cancel, deadline, response} {}
    net::AttemptCancel cancel;
    net::ClientWatch::Attempt watched;
    OneAttempt one;
  };
  struct Delivery {
    Response& response;
    Delivered delivery_result;
  };

  Task<void> obey(const policy::Start&);
  Task<void> obey(const policy::Wait&);
  Task<void> obey(const policy::Deliver&);
  Task<void> obey(const policy::Cancel&);
  Task<void> obey(const policy::Resume&);
  Task<void> obey(const policy::Continue&);
  Task<void> obey(const policy::Cut&);
  Task<void> end_call();
  Task<void> obey(const policy::Fail&);
  Task<void> obey(const policy::Leave&);

  Task<void> start_hedged(policy::Start);
  void start_copy(HedgedAttempt&, unsigned slow);
  void attempted(const AttemptResult&);
  void delivered(const Delivered&);
  Task<void> keep(Instant until);
  policy::Actions report_departures();
  static void note(const policy::Actions& nothing);
  void body_ended(Relayed::End, policy::Cause, std::uint64_t bytes, bool stalled);
  void body_went_on(const policy::AttemptReport&);
  void end_without_response(telemetry::Ending);
  void end_like_upstream();

  OneExchange& one_;
  Worker& worker_;
  Request& request_;
  const ClientSide& client_;
  policy::Exchange& machine_;  ///< state machine of the request; its memory is reused
  policy::Actions actions_;
  Response* live_;  ///< holds the last response; the next attempt stores its response here
  Response& kept_;
  ClientState client_state_ = ClientState::present;
  std::optional<LoneAttempt> alone_;        ///< set while the attempt runs, and until its result is reported
  std::optional<Delivery> delivery_;        ///< set while the delivery runs, and until its result is reported
  std::unique_ptr<HedgedAttempt> hedge_;    ///< set if attempt 1 may get a hedged copy
  std::unique_ptr<Resumption> resumption_;  ///< set once the delivered body has broken
  Served served_;
  bool broke_between_messages_ = false;  ///< see Relayed
  bool is_framed_ = true;                ///< the client can distinguish a cut response from a complete one
  bool response_begun_ = false;  ///< the client may have a part of the head, even if no status is recorded
};

}  // namespace reprise::forward
