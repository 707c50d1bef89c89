// A delivered download that broke: the request for its rest, and the rest on its way to the client.
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

/// Made when the body of a delivered response breaks; lives until the exchange ends. A body that only stalls
/// stays open beside the one that is asked for: at most two connections for one download.
class Resumption {
 public:
  /// The head and framing of `first` are what the client has; both must outlive it.
  Resumption(Outgoing& out, Response& first);

  /// The body broke after `bytes` more bytes for the client; one that has stalled is kept where it may go on.
  policy::Break broke(policy::Cause, std::uint64_t bytes, bool stalled);
  /// From now on the request's attempts ask for what is missing.
  void ask();
  /// Tells the machine what the head in `response()` brings.
  policy::Actions judge(policy::Exchange&, const policy::AttemptReport&, const policy::Answered&, Instant now,
                        policy::Dice&);
  /// Sends the client what it is still to get of the body of that attempt, framed like the beginning. A body
  /// that brings more than it announced ends as broken, and no byte of the excess is sent. Ends as stalled,
  /// with no byte sent, also where the body that had stalled before brought one first.
  Task<Relayed> relay_rest(net::Pool&, net::Stream& client, unsigned number);
  /// What the body of that attempt comes over.
  net::Stream& stream_of(unsigned number);
  /// Of the running attempt.
  Response& response() { return part_of_attempt().response; }

  /// The body that has stalled; null if none is open.
  StalledBody* stalled() { return stalled_ ? &*stalled_ : nullptr; }
  bool is_awake() const { return stalled_ && stalled_->state() == StalledBody::State::awake; }
  /// Closes what has stalled.
  Task<void> drop_stalled();

 private:
  /// How far the body of a continuation has come.
  struct Rest {
    std::uint64_t skip = 0;  ///< bytes that the client has already
    std::uint64_t left = 0;  ///< bytes that it is still to get
    std::uint64_t sent = 0;
    std::string_view piece;  ///< what may go out now
    bool counted = true;     ///< the body's framing proves its length
    std::string last;        ///< the last byte, until the end is proved
  };
  struct Part {
    Response response;
    Rest rest;
  };

  Part& part_of_attempt() { return parts_[attempt_]; }
  /// Whether the body of that attempt is the one that has stalled.
  bool has_stalled(unsigned number) { return stalled_ && response_of(silent_).number == number; }
  Response& response_of(Part* part) { return part == nullptr ? first_ : part->response; }
  void begin_part(Part&);
  static bool take(Rest&, std::string_view piece);
  Task<Relayed> relay_part(net::Pool&, net::Stream& client, Part&);
  Task<ErrorCode> send(net::Stream& client, std::string_view piece);
  Task<Relayed> finish(net::Pool&, net::Stream& client, Part&, bool surplus);

  Outgoing& out_;
  Response& first_;
  std::optional<policy::Download> download_;  ///< absent: it cannot be continued
  std::optional<Instant> signed_until_;
  std::string head_;  ///< what the attempts before the break sent
  policy::Continuation found_;
  std::array<Part, 2>
      parts_;  ///< of the continuation that is delivered, or has stalled, and of the one that is asked for
  std::size_t attempt_ = 0;    ///< which of them the next attempt fills
  Part* delivered_ = nullptr;  ///< whose body the client got last; null: that of the first response
  Part* silent_ = nullptr;     ///< whose body `stalled_` is; null likewise
  std::optional<StalledBody> stalled_;
  std::uint64_t sent_ = 0;
  const bool chunked_;  ///< for the client
  bool overran_ = false;
};

}  // namespace reprise::forward
