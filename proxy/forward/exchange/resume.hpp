// Resumes a download whose body broke after the client had received a part of it: requests the missing part
// and sends it to the client.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "proxy/forward/exchange/relay.hpp"
#include "proxy/forward/exchange/stalled_body.hpp"
#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/policy/decision/exchange.hpp"
#include "proxy/policy/decision/resume.hpp"

namespace reprise::forward {

/// Created when the body of a delivered response breaks; lives until the exchange ends. The connection of a
/// stalled body stays open beside the new request, so one download uses at most two connections.
class Resumption {
 public:
  /// Precondition: the client has received the head of `first`. Both arguments must outlive this object.
  Resumption(Outgoing& out, Response& first);

  /// Records that the body broke after the client had received `bytes` more bytes. Keeps the connection if
  /// the body has only stalled and may continue.
  policy::Break broke(policy::Cause, std::uint64_t bytes, bool stalled);
  /// Makes the next attempts of the request ask for the missing part of the body.
  void ask();
  /// Judges the head in `response()` and reports to the state machine whether that response continues the
  /// download.
  policy::Actions judge(policy::Exchange&, const policy::AttemptReport&, const policy::Responded&,
                        Instant now, policy::Dice&);
  /// Sends the client the missing part of the body from attempt `number`, in the framing of the first part.
  /// If the body is longer than announced, the result is `broken`, and no byte beyond the announced length is
  /// sent. The result has `stalled` set if the body stalls. It also has `stalled` set, and no byte is sent,
  /// if an earlier stalled body continues before the first byte of this body arrives.
  Task<Relayed> relay_rest(net::Pool&, net::ClientEnd& client, unsigned number);
  /// Returns the upstream's end that carries the body of attempt `number`.
  net::UpstreamEnd& end_of(unsigned number);
  /// Returns the response of the running attempt.
  Response& response() { return part_of_attempt().response; }

  /// Returns the stalled body; null if none is open.
  StalledBody* stalled() { return stalled_ ? &*stalled_ : nullptr; }
  bool is_awake() const { return stalled_ && stalled_->state() == StalledBody::State::awake; }
  /// Closes the connection of the stalled body.
  Task<void> drop_stalled();

 private:
  /// The progress of a resumed body.
  struct Rest {
    std::uint64_t skip = 0;  ///< bytes to discard because the client has them already
    std::uint64_t left = 0;  ///< bytes that the client still needs
    std::uint64_t sent = 0;
    std::string_view piece;  ///< bytes that may be sent now
    bool counted = true;     ///< the body's framing shows where the body ends
    std::string last;        ///< last byte of the body, held back until the body is known to be complete
  };
  struct Part {
    Response response;
    Rest rest;
  };

  Part& part_of_attempt() { return parts_[attempt_]; }
  /// Returns true if the body of attempt `number` is the stalled body.
  bool has_stalled(unsigned number) { return stalled_ && response_of(stalled_part_).number == number; }
  Response& response_of(Part* part) { return part == nullptr ? first_ : part->response; }
  void begin_part(Part&);
  static bool take(Rest&, std::string_view piece);
  Task<Relayed> relay_part(net::Pool&, net::ClientEnd& client, Part&);
  Task<ErrorCode> send(net::ClientEnd& client, std::string_view piece);
  Task<Relayed> finish(net::Pool&, net::ClientEnd& client, Part&, bool surplus);

  Outgoing& out_;
  Response& first_;
  std::optional<policy::Download> download_;  ///< absent: the download cannot be resumed
  std::optional<Instant> signed_until_;
  std::string head_;  ///< request head of the attempts before the body broke
  policy::Continuation found_;
  /// One part holds the delivered or stalled continuation of the body, the other part the continuation that
  /// is being requested.
  std::array<Part, 2> parts_;
  std::size_t attempt_ = 0;       ///< index of the part that the next attempt fills
  Part* delivered_ = nullptr;     ///< part whose body the client received last; null: the body of `first_`
  Part* stalled_part_ = nullptr;  ///< part whose body `stalled_` watches; null: the body of `first_`
  std::optional<StalledBody> stalled_;
  std::uint64_t sent_ = 0;
  bool overran_ = false;
};

}  // namespace reprise::forward
