#include <cmath>

#include "proxy/telemetry/history/story.hpp"
#include "proxy/telemetry/log/json_members.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {
namespace {

void append_hints(std::string& out, const policy::Hints& hints) {
  if (hints.retry_after) span_member(out, "retry_after_ms", *hints.retry_after);
  if (hints.said_no) flag_member(out, "said_no");
  if (hints.from_reprise) flag_member(out, "from_reprise");
}

void append_outcome(std::string& out, const policy::Outcome& outcome) {
  if (const auto* failed = std::get_if<policy::Failed>(&outcome)) {
    word_member(out, "stage", policy::word(failed->stage));
    word_member(out, "error", policy::word(failed->cause));
    return;
  }
  const auto& answered = std::get<policy::Answered>(outcome);
  number_member(out, "status", static_cast<std::uint64_t>(answered.status));
  append_hints(out, answered.hints);
  if (answered.body_listed) flag_member(out, "body_listed");
}

void append_attempt(std::string& out, const StoryAttempt& attempt) {
  out += "{\"n\":";
  append_number(out, std::uint64_t{attempt.number});
  if (attempt.address.known()) word_member(out, "address", text_of(attempt.address));
  append_outcome(out, attempt.outcome);
  span_member(out, "at_ms", attempt.started);
  span_member(out, "ms", attempt.ended - attempt.started);
  span_member(out, "wait_ms", attempt.wait);
  name_member(out, "reused");
  out += attempt.reused ? "true" : "false";
  name_member(out, "may_have_sent");
  out += attempt.may_have_sent ? "true" : "false";
  number_member(out, "sent_bytes", attempt.sent_bytes);
  word_member(out, "reason", policy::word(attempt.verdict.reason));
  name_member(out, "retry");
  out += attempt.verdict.retry ? "true" : "false";
  if (attempt.verdict.delay > policy::Duration::zero()) span_member(out, "delay_ms", attempt.verdict.delay);
  if (attempt.bounds.highest > policy::Duration::zero()) {
    span_member(out, "delay_lowest_ms", attempt.bounds.lowest);
    span_member(out, "delay_highest_ms", attempt.bounds.highest);
  }
  if (std::isfinite(attempt.budget_left)) {
    name_member(out, "budget_left");
    append_number(out, static_cast<std::int64_t>(std::floor(attempt.budget_left)));
  }
  out += '}';
}

void append_request(std::string& out, const Story& story) {
  out += "{\"id\":";
  append_json(out, story.id);
  name_member(out, "time");
  out += '"';
  out += timestamp(story.ended_wall);
  out += '"';
  text_member(out, "route", story.route_name);
  if (!story.client.empty()) text_member(out, "client", story.client);
  text_member(out, "method", story.method);
  text_member(out, "host", story.host);
  number_member(out, "port", story.port);
  if (!story.path.empty()) text_member(out, "path", story.path);
  if (story.over_tls) flag_member(out, "tls");
  if (story.tunnel) flag_member(out, "tunnel");
  if (!story.request_id.empty()) text_member(out, "request_id", story.request_id);
  if (!story.traceparent.empty()) text_member(out, "traceparent", story.traceparent);
}

void append_ending(std::string& out, const Story& story) {
  name_member(out, "status");
  if (story.status == 0) {
    out += "null";
  } else {
    append_number(out, std::int64_t{story.status});
  }
  word_member(out, "ending", word(story.ending));
  if (story.idempotent) flag_member(out, "idempotent");
  if (story.own_response) flag_member(out, "own_response");
  if (story.recovered) flag_member(out, "recovered");
  if (story.ambiguous) flag_member(out, "ambiguous");
  word_member(out, "reason", policy::word(story.reason));
  if (story.hedge != policy::HedgeOutcome::none) word_member(out, "hedge", policy::word(story.hedge));
  if (story.hedge == policy::HedgeOutcome::refused)
    word_member(out, "hedge_refused", policy::word(story.hedge_refusal));
  span_member(out, "ms", story.took);
  number_member(out, "request_bytes", story.request_bytes);
  number_member(out, "response_bytes", story.response_bytes);
}

}  // namespace

void append_story_json(std::string& out, const Story& story, std::string_view advice) {
  append_request(out, story);
  append_ending(out, story);
  text_member(out, "meaning", policy::meaning(story.reason));
  if (!advice.empty()) text_member(out, "advice", advice);
  name_member(out, "attempts");
  out += '[';
  for (std::size_t i = 0; i < story.attempts.size(); ++i) {
    if (i > 0) out += ',';
    append_attempt(out, story.attempts[i]);
  }
  out += ']';
  if (story.attempts_left_out > 0) {
    number_member(out, "attempts_left_out", story.attempts_left_out);
    number_member(out, "attempts_before_the_gap", story.attempts_before_the_gap);
  }
  out += '}';
}

}  // namespace reprise::telemetry
