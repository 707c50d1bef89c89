#include "proxy/forward/request/call_end.hpp"

#include "proxy/http/grpc/hints.hpp"
#include "proxy/http/grpc/status.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::forward {
namespace {

// Precondition: the response has ended, and no message came. A response with another HTTP status than 200 is
// judged by that status unless it has a status of its own.
void set_end(const http::ResponseHead& head, const std::string& trailers, policy::Responded& responded) {
  responded.grpc = trailers.empty() ? http::status_of(head.fields) : http::status_of(trailers);
  if (!responded.grpc && responded.status == 200) responded.grpc = policy::GrpcStatus::unknown;
  responded.hints.add(trailers.empty() ? http::read_call_hints(head.fields)
                                       : http::read_call_hints(trailers));
}

}  // namespace

Task<policy::Outcome> read_call_end(policy::Responded head, bool may_wait, Instant until,
                                    Response& response) {
  net::BodySource& source = response.begin_body();
  net::BodyStep step = net::BodyStep::end;
  std::string_view piece;
  if (!source.complete()) {
    if (!may_wait) co_return head;
    if (!source.take_at_hand(step, piece)) {
      if (until <= net::Tick::now()) co_return head;
      step = co_await source.next_until(until, piece);
      if (step == net::BodyStep::stalled) co_return head;
    }
  }
  if (step == net::BodyStep::piece) {
    response.body.append(piece);
  } else if (step == net::BodyStep::end) {
    set_end(response.head, source.trailers(), head);
  } else {
    response.broken = step;
    co_return policy::Failed{policy::Stage::body, net::cause_of(step)};
  }
  co_return head;
}

}  // namespace reprise::forward
