#include "proxy/net/request.hpp"

#include "proxy/http/json_probe.hpp"

namespace reprise::net {

void Request::clear() {
  body.end();
  live.clear();
  copy.clear();
  kept.clear();
  head.method = head.target = {};
  head.fields.clear();
  view = {};
  upstream.reset();
  outgoing.clear();
  answer_head.clear();
  answer_fields.clear();
  upgrade = continue_sent = resuming = tunnel = gateway = false;
}

policy::Idempotency judge_now(const Request& request) {
  if (request.facts.idempotent != policy::Idempotency::undecided) return request.facts.idempotent;
  const RequestBody& body = request.body;
  // A content-coded body cannot be looked into.
  if (!body.complete() || !body.replayable() || request.head.has("Content-Encoding", ""))
    return policy::Idempotency::no;
  const http::JsonText json(body.held());
  return policy::judge(request.policy->idempotent, request.view, &json);
}

}  // namespace reprise::net
