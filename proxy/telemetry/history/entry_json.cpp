#include "proxy/telemetry/history/entry_json.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

// Adds the flag only if it is true.
void add_flag(json::object& out, std::string_view name, bool flag) {
  if (flag) out[name] = true;
}

void add_text(json::object& out, std::string_view name, std::string_view text) {
  if (!text.empty()) out[name] = text;
}

void add_outcome(json::object& out, const policy::Outcome& outcome) {
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) {
    out["stage"] = policy::word(failed->stage);
    out["error"] = policy::word(failed->cause);
    add_text(out, "reset_code", policy::reset_code(*failed));
    return;
  }
  const auto& responded = std::get<policy::Responded>(outcome);
  out["status"] = responded.status;
  if (responded.grpc) out["grpc"] = policy::word(*responded.grpc);
  if (responded.hints.retry_after) out["retry_after_ms"] = in_milliseconds(*responded.hints.retry_after);
  add_flag(out, "said_no", responded.hints.said_no);
  add_flag(out, "from_reprise", responded.hints.from_reprise);
  add_flag(out, "body_listed", responded.body_listed);
}

// Adds service, method and status of a gRPC call, each only if it is known.
void add_call(json::object& out, const HistoryEntry& story) {
  if (!story.is_call) return;
  const policy::CallName name = policy::call_name(story.path);
  json::object call;
  add_text(call, "service", name.service);
  add_text(call, "method", name.method);
  if (story.grpc) call["status"] = policy::word(*story.grpc);
  out["grpc"] = std::move(call);
}

json::object attempt_json(const HistoryAttempt& attempt) {
  json::object out{{"n", attempt.number}};
  if (attempt.address.known()) out["address"] = text_of(attempt.address);
  if (attempt.http2) out["http"] = "2";
  add_outcome(out, attempt.outcome);
  out["at_ms"] = in_milliseconds(attempt.started);
  out["ms"] = in_milliseconds(attempt.ended - attempt.started);
  out["wait_ms"] = in_milliseconds(attempt.wait);
  if (attempt.queued > policy::Duration::zero()) out["queued_ms"] = in_milliseconds(attempt.queued);
  out["reused"] = attempt.reused;
  out["may_have_sent"] = attempt.may_have_sent;
  out["sent_bytes"] = attempt.sent_bytes;
  out["reason"] = policy::word(attempt.verdict.reason);
  out["retry"] = attempt.verdict.retry;
  if (attempt.verdict.delay > policy::Duration::zero())
    out["delay_ms"] = in_milliseconds(attempt.verdict.delay);
  if (attempt.bounds.highest > policy::Duration::zero()) {
    out["delay_lowest_ms"] = in_milliseconds(attempt.bounds.lowest);
    out["delay_highest_ms"] = in_milliseconds(attempt.bounds.highest);
  }
  if (std::isfinite(attempt.budget_left))
    out["budget_left"] = static_cast<std::int64_t>(std::floor(attempt.budget_left));
  return out;
}

void add_request(json::object& out, const HistoryEntry& story) {
  out["id"] = story.id;
  out["time"] = timestamp(story.ended_wall);
  out["route"] = story.route_name;
  add_text(out, "client", story.client);
  out["method"] = story.method;
  if (story.http2) out["http"] = "2";
  out["host"] = story.host;
  out["port"] = story.port;
  add_text(out, "path", story.path);
  add_call(out, story);
  add_flag(out, "tls", story.over_tls);
  add_flag(out, "tunnel", story.tunnel);
  add_text(out, "request_id", story.request_id);
  add_text(out, "traceparent", story.traceparent);
}

void add_ending(json::object& out, const HistoryEntry& story) {
  out["status"] = story.status == 0 ? json::value() : json::value(story.status);
  out["ending"] = word(story.ending);
  add_flag(out, "idempotent", story.idempotent);
  add_flag(out, "own_response", story.own_response);
  add_flag(out, "recovered", story.recovered);
  add_flag(out, "ambiguous", story.ambiguous);
  out["reason"] = policy::word(story.reason);
  if (story.hedge != policy::HedgeOutcome::none) out["hedge"] = policy::word(story.hedge);
  if (story.hedge == policy::HedgeOutcome::refused) out["hedge_refused"] = policy::word(story.hedge_refusal);
  out["ms"] = in_milliseconds(story.took);
  out["request_bytes"] = story.request_bytes;
  out["response_bytes"] = story.response_bytes;
}

}  // namespace

json::object story_json(const HistoryEntry& story, std::string_view advice) {
  json::object out;
  add_request(out, story);
  add_ending(out, story);
  out["meaning"] = meaning_of(story);
  add_text(out, "advice", advice);
  json::array attempts;
  for (const HistoryAttempt& attempt : story.attempts) attempts.push_back(attempt_json(attempt));
  out["attempts"] = std::move(attempts);
  if (story.attempts_left_out > 0) {
    out["attempts_left_out"] = story.attempts_left_out;
    out["attempts_before_the_gap"] = story.attempts_before_the_gap;
  }
  return out;
}

}  // namespace reprise::telemetry
