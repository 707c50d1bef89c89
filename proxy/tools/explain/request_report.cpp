#include "proxy/tools/explain/request_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "proxy/http/message/metadata_service.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "proxy/tools/explain/advice.hpp"
#include "proxy/tools/explain/page.hpp"

namespace reprise::tools {
namespace {

using policy::Reason;
using telemetry::HistoryAttempt;
using telemetry::HistoryEntry;

std::string visible(std::string_view text) {
  std::string out;
  telemetry::append_visible(out, text);
  return out;
}

std::string request_text(const HistoryEntry& story) {
  const std::string_view scheme = story.tunnel ? "" : story.over_tls ? "https://" : "http://";
  std::string text =
      visible(story.method) + " " + std::string(scheme) + visible(policy::host_text(story.host));
  const std::uint16_t usual = story.over_tls ? 443 : 80;
  if (story.tunnel || story.port != usual) text += ":" + std::to_string(story.port);
  return text + visible(story.path);
}

std::string by_whom(const HistoryEntry& story) {
  std::string text = visible(story.client);
  if (!story.request_id.empty())
    text += (text.empty() ? "" : ", ") + ("X-Request-Id " + visible(story.request_id));
  if (!story.traceparent.empty())
    text += (text.empty() ? "" : ", ") + ("trace " + story.traceparent.substr(3, 32));
  return text;
}

std::string where(const HistoryAttempt& attempt) {
  std::string text = telemetry::text_of(attempt.address);
  if (text.empty()) return "no connection opened";
  if (attempt.http2) text += ", HTTP/2";
  if (attempt.reused) text += ", on a reused connection";
  if (attempt.queued > policy::Duration::zero())
    text += fmt::format(", after {} in the queue for a stream", span(attempt.queued));
  return text;
}

std::string status_of(const policy::Responded& responded) {
  return telemetry::status_text(responded.status, responded.grpc);
}

std::string outcome_text(const HistoryAttempt& attempt) {
  const auto* failed = std::get_if<policy::Failed>(&attempt.outcome);
  std::string text = failed == nullptr ? status_of(std::get<policy::Responded>(attempt.outcome))
                                       : fmt::format("{} in stage {}", policy::cause_text(*failed),
                                                     policy::word(failed->stage));
  text += fmt::format(" after {}", span(attempt.ended - attempt.started));
  if (attempt.sent_bytes > 0) text += fmt::format("; {} bytes sent", attempt.sent_bytes);
  if (failed != nullptr && failed->unprocessed) return text + "; the upstream processed nothing";
  if (attempt.sent_bytes > 0) return text;
  return text + (attempt.may_have_sent ? "; part of the request may have been sent" : "; nothing sent");
}

std::string hints_text(const policy::Outcome& outcome) {
  const auto* responded = std::get_if<policy::Responded>(&outcome);
  if (responded == nullptr) return {};
  std::string text;
  const auto add = [&](std::string_view more) { text += (text.empty() ? "" : "; ") + std::string(more); };
  if (responded->hints.retry_after)
    add("the upstream asked for a pause of " + span(*responded->hints.retry_after));
  if (responded->hints.said_no) add("the upstream asked not to retry");
  if (responded->hints.from_reprise) add("another reprise has already retried the request");
  if (responded->body_listed) add("the body reports a failure");
  return text;
}

std::string decided(const HistoryAttempt& attempt) {
  const policy::Verdict& verdict = attempt.verdict;
  std::string text(policy::word(verdict.reason));
  const bool drawn = attempt.bounds.highest > policy::Duration::zero();
  if (verdict.reason == Reason::hedged) {
    text += ": a hedge after " + span(verdict.delay);
  } else if (verdict.retry) {
    text += ": retried " +
            (verdict.delay > policy::Duration::zero() ? "after " + span(verdict.delay) : "at once");
  } else if (verdict.delay > policy::Duration::zero()) {
    text += ": a wait of " + span(verdict.delay) + " was not started or was interrupted";
  }
  if (drawn) text += ", drawn from " + between(attempt.bounds.lowest, attempt.bounds.highest);
  if (std::isfinite(attempt.budget_left))
    text += fmt::format("; {:.0f} retries left in the budget", std::floor(attempt.budget_left));
  return text;
}

void append_attempt(const HistoryAttempt& attempt, TextPage& page) {
  const std::string heading = fmt::format("attempt {}", attempt.number);
  page.line(heading, fmt::format("at {}: {}", span(attempt.started), where(attempt)));
  page.line(heading, outcome_text(attempt));
  if (const std::string hints = hints_text(attempt.outcome); !hints.empty()) page.line(heading, hints);
  page.line(heading, decided(attempt));
}

std::string client_got(const HistoryEntry& story) {
  std::string text = story.status == 0 ? "no response" : telemetry::status_text(story.status, story.grpc);
  if (story.own_response) text += " from reprise";
  text += fmt::format(" after {}, {} bytes of body", span(story.took), story.response_bytes);
  if (story.ending != telemetry::Ending::complete) text += fmt::format("; {}", word(story.ending));
  if (story.recovered) text += "; recovered";
  if (story.ambiguous) text += "; ambiguous: an earlier attempt may have taken effect";
  if (story.hedge != policy::HedgeOutcome::none) text += fmt::format("; hedge {}", policy::word(story.hedge));
  if (story.hedge == policy::HedgeOutcome::refused)
    text += fmt::format(": {}", policy::word(story.hedge_refusal));
  return text;
}

// Returns an explanation with only the facts that `advice` reads. The facts come from the last decision about
// the request.
Explanation as_seen(const HistoryEntry& story) {
  Explanation seen;
  seen.facts.idempotent = story.idempotent ? policy::Idempotency::yes : policy::Idempotency::no;
  seen.facts.no_store = story.no_store;
  seen.limit = telemetry::limit_of(story);
  seen.not_resumed = story.reason;
  if (story.attempts.empty()) return seen;
  const HistoryAttempt& last = story.attempts.back();
  seen.metadata = http::is_metadata_service(policy::without_last_dot(story.host));
  seen.outcome = last.outcome;
  seen.lowest.last.sent = last.may_have_sent ? policy::Sent::maybe : policy::Sent::nothing;
  seen.lowest.last_verdict = last.verdict;
  return seen;
}

}  // namespace

std::string advice_for(const HistoryEntry& story, const policy::RoutePolicy& policy) {
  if (story.reason == Reason::success) return {};
  return advice(story.reason, as_seen(story), policy);
}

std::string to_text(const HistoryEntry& story, std::string_view advice) {
  TextPage page;
  page.line("request", request_text(story));
  page.line("id", story.id);
  page.line("ended", telemetry::timestamp(story.ended_wall));
  if (const std::string text = by_whom(story); !text.empty()) page.line("client", text);
  page.line("route", visible(story.route_name));
  page.line("idempotent", story.idempotent ? "yes" : "no, or not known before the body was read");
  for (std::size_t i = 0; i < story.attempts.size(); ++i) {
    if (story.attempts_left_out > 0 && i == story.attempts_before_the_gap)
      page.line("...", fmt::format("{} more", story.attempts_left_out));
    append_attempt(story.attempts[i], page);
  }
  page.line("ends", fmt::format("{}: {}", policy::word(story.reason), telemetry::meaning_of(story)));
  page.line("client got", client_got(story));
  if (!advice.empty()) page.line("to change", advice);
  return page.take();
}

}  // namespace reprise::tools
