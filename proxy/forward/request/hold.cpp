#include "proxy/forward/request/hold.hpp"

#include <algorithm>

#include "proxy/http/body_rules/response_body_probe.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::forward {

using policy::BodyKind;

namespace {

/// Reads the held part of a body into `response.body` and detects when to stop.
class Holder {
 public:
  Holder(const policy::HoldPolicy& hold, Response& response)
      : hold_(hold),
        response_(response),
        reader_(response.begin_body()),
        kind_(http::body_kind(response.head)),
        most_(policy::bytes_to_hold(hold, response.head.status, kind_)) {}

  /// Reads until the body ends or a limit is reached: the number of bytes, the first event, or `until`.
  /// Returns `piece` if a limit was reached.
  Task<net::BodyStep> read(Duration idle, Instant until);
  const policy::BodyPredicate* listed_by(net::BodyStep end) const;
  net::BodySource& reader() { return reader_; }

 private:
  void take(net::BodyStep step, std::string_view piece) {
    if (step != net::BodyStep::piece) return;
    response_.body.append(piece);
    if (kind_ == BodyKind::event_stream) event_.feed(piece);
  }
  bool enough() const { return response_.body.size() >= most_ || event_.complete(); }

  const policy::HoldPolicy& hold_;
  Response& response_;
  net::BodySource& reader_;
  const BodyKind kind_;
  const std::size_t most_;
  http::FirstEvent event_;
};

Task<net::BodyStep> Holder::read(Duration idle, Instant until) {
  net::BodyStep step = net::BodyStep::piece;
  std::string_view piece;
  for (;;) {
    // Takes all buffered bytes, so that the reader's own memory is empty afterwards.
    while (step == net::BodyStep::piece && reader_.take_at_hand(step, piece)) take(step, piece);
    if (step != net::BodyStep::piece || enough()) co_return step;
    const Instant silence = policy::end_of(net::Tick::now(), idle);
    step = co_await reader_.next_until(std::min(until, silence), piece);
    if (step == net::BodyStep::stalled && until <= silence) co_return net::BodyStep::piece;
    take(step, piece);
  }
}

// Returns the predicate that the held body matches; null if there is none. A body matches no predicate if it
// is incomplete or longer than the limit.
const policy::BodyPredicate* Holder::listed_by(net::BodyStep end) const {
  const int status = response_.head.status;
  if (kind_ == BodyKind::event_stream)
    return policy::match_body(hold_.body, status, http::EventResponse(event_));
  const bool whole = end == net::BodyStep::end && response_.body.size() <= most_;
  return whole ? policy::match_body(hold_.body, status, http::WholeResponse(response_.body, kind_)) : nullptr;
}

}  // namespace

const policy::BodyPredicate* listed_by_head(const policy::HoldPolicy& hold, const Response& response) {
  return policy::match_head(hold.body, response.head.status, http::ResponseFields(response.head));
}

bool is_held(const policy::HoldPolicy& hold, const Response& response) {
  const http::Framing& framing = response.head.framing;
  if (framing.kind == http::Framing::Kind::none) return false;
  const BodyKind kind = http::body_kind(response.head);
  const std::size_t most = policy::bytes_to_hold(hold, response.head.status, kind);
  // A body that is longer than the limit can match no predicate, so it is not held.
  const bool too_long = framing.kind == http::Framing::Kind::length && framing.length > most;
  return most > 0 && (hold.bytes > 0 || kind == BodyKind::event_stream || !too_long);
}

Task<policy::Outcome> hold_back(net::Pool& pool, const policy::HoldPolicy& hold,
                                const policy::Responded& head, Duration idle, Instant until,
                                Response& response) {
  Holder holder(hold, response);
  const net::BodyStep end = co_await holder.read(idle, until);
  if (end != net::BodyStep::piece && end != net::BodyStep::end) {
    response.broken = end;
    co_return policy::Failed{policy::Stage::body, net::cause_of(end)};
  }
  policy::Responded outcome = head;
  const policy::BodyPredicate* const by = holder.listed_by(end);
  outcome.body_listed = by != nullptr;
  outcome.body_refused = by != nullptr && by->refused;
  if (end == net::BodyStep::end) keep_whole(pool, response);
  co_return outcome;
}

}  // namespace reprise::forward
