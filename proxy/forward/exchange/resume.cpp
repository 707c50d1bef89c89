#include "proxy/forward/exchange/resume.hpp"

#include <algorithm>
#include <cassert>

#include "proxy/forward/request/continuable.hpp"
#include "proxy/net/io/clock.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Continuation;

namespace {

std::optional<policy::Download> begin(const Outgoing& out, const Response& first) {
  if (first.kept || first.overtook || out.bound) return std::nullopt;
  return policy::Download::begin(download_request_of(out.in), part_of(*out.route.policy, first.head));
}

}  // namespace

Resumption::Resumption(Outgoing& out, Response& first)
    : out_(out),
      first_(first),
      download_(begin(out, first)),
      signed_until_(end_of_signature(out.in)),
      head_(out.head) {
  out.resuming = out.may_hold_stream = true;
}

policy::Break Resumption::broke(Cause cause, std::uint64_t bytes, bool stalled) {
  sent_ += bytes;
  policy::Break what{cause};
  // If the framing is malformed, no byte that arrived with it can be trusted.
  what.continuable = download_ && cause != Cause::malformed_response && download_->has_rest(sent_);
  what.progress = bytes > 0;
  what.differs = overran_;
  what.signed_until = signed_until_;
  const bool goes_on =
      stalled && what.continuable && out_.route.policy->resume.stall < out_.route.policy->idle_timeout;
  Response& broken = response_of(delivered_);
  if (!stalled_ && goes_on) {
    stalled_part_ = delivered_;
    stalled_.emplace(broken.connection.end());
    stalled_->start();
  } else {
    broken.connection.reset();
  }
  what.stays_open = stalled_ && stalled_->state() != StalledBody::State::ended;
  return what;
}

Task<void> Resumption::drop_stalled() {
  if (!stalled_) co_return;
  co_await stalled_->stop();
  stalled_.reset();
  response_of(stalled_part_).connection.reset();
}

void Resumption::ask() {
  assert(download_);
  attempt_ = stalled_ && stalled_part_ == parts_.data() ? 1 : 0;
  out_.head.clear();
  http::write_range_request(head_, download_->ask(sent_), out_.head);
}

policy::Actions Resumption::judge(policy::Exchange& machine, const policy::AttemptReport& report,
                                  const policy::Responded& responded, Instant now, policy::Dice& dice) {
  assert(download_);
  found_ = download_->judge(part_of(*out_.route.policy, response().head), sent_);
  switch (found_.kind) {
    case Continuation::Kind::rest:
    case Continuation::Kind::whole: return machine.continued(report, responded, now);
    case Continuation::Kind::mismatch: return machine.differed(report, responded, now);
    case Continuation::Kind::refused: return machine.responded(report, responded, now, dice);
    case Continuation::Kind::uncounted: break;
  }
  // The body of this response is not needed. It may be long, so the connection is closed instead of reading
  // the body.
  response().connection.reset();
  return machine.uncounted(report, responded, now, dice);
}

// Removes from `piece` the bytes that the client already has, and holds back the last byte of the body.
// Returns false if the body is longer than the requested range, because it is then not the missing part.
bool Resumption::take(Rest& rest, std::string_view piece) {
  const std::uint64_t skipped = std::min<std::uint64_t>(rest.skip, piece.size());
  rest.skip -= skipped;
  piece.remove_prefix(static_cast<std::size_t>(skipped));
  if (piece.size() > rest.left - rest.last.size()) return false;
  if (!rest.counted && !piece.empty() && piece.size() == rest.left) {
    rest.last = piece.back();
    piece.remove_suffix(1);
  }
  rest.piece = piece;
  return true;
}

Task<ErrorCode> Resumption::send(net::ClientEnd& client, std::string_view piece) {
  client.add_piece(piece);
  return client.send_rest(out_.route.policy->idle_timeout);
}

net::UpstreamEnd& Resumption::end_of(unsigned number) {
  return (has_stalled(number) ? response_of(stalled_part_) : response()).connection.end();
}

void Resumption::begin_part(Part& part) {
  part.rest = {};
  part.rest.skip = found_.skip;
  part.rest.left = found_.bytes;
  part.rest.counted = part.response.head.framing.kind == http::Framing::Kind::length;
  part.response.begin_body();
}

Task<Relayed> Resumption::relay_rest(net::Pool& pool, net::ClientEnd& client, unsigned number) {
  if (has_stalled(number)) {
    co_await stalled_->stop();
    stalled_.reset();
    delivered_ = stalled_part_;
    if (delivered_ == nullptr) co_return co_await relay(pool, out_, client, {}, first_);
  } else {
    delivered_ = &part_of_attempt();
    begin_part(*delivered_);
  }
  co_return co_await relay_part(pool, client, *delivered_);
}

Task<Relayed> Resumption::relay_part(net::Pool& pool, net::ClientEnd& client, Part& part) {
  const policy::RoutePolicy& policy = *out_.route.policy;
  const Duration stall = std::min(policy.resume.stall, policy.idle_timeout);
  net::BodySource& reader = part.response.body_source();
  Rest& rest = part.rest;
  rest.sent = 0;
  for (;;) {
    std::string_view piece;
    net::BodyStep step = net::BodyStep::stalled;
    {
      EndsRead ends(part.response.connection.end());
      const StalledBody::Race race(stalled(), ends);
      step = co_await reader.next(stall, piece);
    }
    if (step == net::BodyStep::failed && is_awake()) co_return broken(net::BodyStep::stalled, rest.sent);
    if (step == net::BodyStep::end && rest.left == rest.last.size()) {
      co_await drop_stalled();
      co_return co_await finish(pool, client, part, reader.has_surplus());
    }
    if (step != net::BodyStep::piece) co_return broken(step, rest.sent);
    if (!take(rest, piece)) {
      overran_ = true;
      co_return Relayed{Relayed::End::broken, Cause::malformed_response, rest.sent};
    }
    if (rest.piece.empty()) continue;
    co_await drop_stalled();  // this one was first: the new response has brought a byte for the client
    if (co_await send(client, rest.piece))
      co_return Relayed{Relayed::End::client_gone, Cause::truncated, rest.sent};
    rest.left -= rest.piece.size();
    rest.sent += rest.piece.size();
  }
}

// Ends a body that arrived completely: sends the last byte, which was held back, and the end of the client's
// framing.
Task<Relayed> Resumption::finish(net::Pool& pool, net::ClientEnd& client, Part& part, bool surplus) {
  Rest& rest = part.rest;
  if (!rest.last.empty()) {
    if (co_await send(client, rest.last))
      co_return Relayed{Relayed::End::client_gone, Cause::truncated, rest.sent};
    ++rest.sent;
  }
  client.add_end({});
  if (co_await client.send_rest(out_.route.policy->idle_timeout))
    co_return Relayed{Relayed::End::client_gone, Cause::truncated, rest.sent};
  finish_connection(pool, part.response, surplus);
  co_return Relayed{Relayed::End::complete, Cause::truncated, rest.sent};
}

}  // namespace reprise::forward
