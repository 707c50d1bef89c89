#include "proxy/net/attempt_tunnel.hpp"

#include <optional>

#include "proxy/http/client_hello.hpp"
#include "proxy/net/connect.hpp"
#include "proxy/net/deliver.hpp"
#include "proxy/net/ear.hpp"
#include "proxy/net/failure.hpp"
#include "proxy/net/open_tunnel.hpp"

namespace reprise::net {

using http::Hello;
using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

// The rest of a hello is on its way, or there is none: as long as for the first words.
Task<bool> read_hello(Loop& loop, Stream& client, Buffer& early) {
  if (early.empty()) co_return false;
  Hello hello = http::judge_client_hello(early.view());
  client.limit_read(loop.shared.first_words_limit);
  while (hello == Hello::more) {
    if (early.room_left() == 0) early.grow();
    const auto [error, bytes] = co_await client.read_some(early.room());
    if (error) break;
    early.commit(bytes);
    hello = http::judge_client_hello(early.view());
  }
  client.unlimit_read();
  static_cast<void>(client.take_limit_hit());
  co_return hello == Hello::whole;
}

// Until the upstream has a byte or ends, or the client says more: then it is a tunnel like any other.
Task<std::optional<Cause>> offer_hello(Loop& loop, Request& request, Stream& client, Stream& upstream) {
  Gather pieces;
  pieces.add(request.early.view());
  const Duration idle = request.policy->idle_timeout;
  if (const ErrorCode error = co_await upstream.write_all(pieces, idle)) co_return cause_of(error);
  Ear ear(loop, client, upstream);
  upstream.limit_read(idle);
  co_await upstream.wait_readable();
  upstream.unlimit_read();
  static_cast<void>(upstream.take_limit_hit());
  co_await ear.stop();
  const ErrorCode end = heard_end(upstream);
  co_return end ? std::optional(cause_of(end)) : std::nullopt;
}

// Ends with the connection. The answer is a 200 of our own making, its connection the tunnel's.
Task<AttemptResult> attempt_connect(Loop& loop, Request& request, Stop& stop, const policy::Start& start,
                                    std::optional<Instant> deadline, Answer& answer) {
  AttemptResult result;
  result.report.number = start.number;
  answer.clear();
  if (const auto failed = co_await connect(loop, request, stop, deadline, answer)) {
    result.outcome = *failed;
  } else {
    answer.number = start.number;
    result.outcome = policy::Answered{200, {}};
  }
  co_return result;
}

}  // namespace

Task<AttemptResult> attempt_tunnel(Loop& loop, Request& request, ClientSide client, Stop& stop,
                                   const policy::Start& start, std::optional<Instant> deadline,
                                   Answer& answer) {
  AttemptResult result = co_await attempt_connect(loop, request, stop, start, deadline, answer);
  const policy::RoutePolicy& policy = *request.policy;
  const bool replays = policy.replay_client_hello && policy.mode != policy::Mode::off;
  if (!replays || std::holds_alternative<Failed>(result.outcome)) co_return result;
  Stream& upstream = answer.connection->stream();
  if (!request.opened) {
    request.answer_fields.clear();
    append_attempts(policy, start.number, request.answer_fields);
    if (!co_await answer_and_listen(loop, request, client, answer)) {
      answer.clear();
      result.client = ClientState::gone;
      co_return result;
    }
    request.hello = request.words == http::FirstWords::opaque && answer.buffer.empty() &&
                    co_await read_hello(loop, client.stream, request.early);
  }
  if (!request.hello || !answer.buffer.empty()) co_return result;
  stop.aim_at(&upstream);
  const auto cause = co_await offer_hello(loop, request, client.stream, upstream);
  stop.aim_at(nullptr);
  if (cause || stop.stopped()) {
    result.outcome = Failed{Stage::tls, stop.stopped() ? Cause::cancelled : *cause};
    result.report.sent = policy::Sent::maybe;
    result.report.idempotent = policy::Idempotency::yes;
    answer.clear();
  } else {
    request.hello_bytes = request.early.size();
    request.early.consume(request.early.size());
  }
  co_return result;
}

// No coroutine of its own: it only chooses.
Task<AttemptResult> try_once(Loop& loop, Request& request, ClientSide client, Stop& stop,
                             const policy::Start& start, std::optional<Instant> deadline, Answer& answer) {
  if (request.tunnel) return attempt_tunnel(loop, request, client, stop, start, deadline, answer);
  return attempt(loop, request, &client.stream, stop, start, deadline, answer);
}

}  // namespace reprise::net
