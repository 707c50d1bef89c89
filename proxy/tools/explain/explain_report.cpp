#include "proxy/tools/explain/explain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/keys/scalar.hpp"
#include "proxy/http/grpc/failure.hpp"
#include "proxy/http/http1/reply.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "proxy/tools/explain/advice.hpp"
#include "proxy/tools/explain/call_words.hpp"
#include "proxy/tools/explain/page.hpp"

namespace reprise::tools {
namespace {

using config::duration_text;
using config::size_text;
using policy::Duration;
using policy::Mismatch;
using policy::Reason;
using policy::WhilePaused;

std::string quoted(const policy::Condition& condition) { return "`" + policy::describe(condition) + "`"; }

std::string judged(const ExplainReport& report) {
  if (report.question.tunnel) return "yes: a tunnel carries no bytes before it is established";
  const policy::Judgement& judgement = report.explanation.judgement;
  const std::string rule = policy::describe(report.route_policy().idempotent);
  std::string text = report.explanation.facts.idempotent == policy::Idempotency::yes ? "yes" : "no";
  if (judgement.verdict == policy::Idempotency::undecided) {
    return text + ": the body cannot be searched for " + quoted(*judgement.because) + " (" + rule + ")";
  }
  if (judgement.because != nullptr) {
    const bool holds = judgement.verdict == policy::Idempotency::yes;
    text += (holds ? ": the request has " : ": the request does not have ") + quoted(*judgement.because);
  }
  return text + " (" + rule + ")";
}

std::string first_verdict(const ExplainReport& report) {
  const policy::Verdict& low = report.explanation.lowest.first_verdict;
  const policy::Verdict& high = report.explanation.highest.first_verdict;
  std::string text =
      fmt::format("{}: {}", policy::word(low.reason), policy::meaning(low.reason, report.explanation.limit));
  if (low.reason != high.reason) text += fmt::format("; or {}", policy::word(high.reason));
  if (low.reason == Reason::observe_only) text += fmt::format(" after {}", between(low.delay, high.delay));
  return text;
}

// Lists the routes that do not match. All routes that fail at the same part of the request, such as the path,
// share one line, because a preset has many routes.
void list_passed_over(const ExplainReport& report, TextPage& page) {
  constexpr std::size_t most_names = 8;
  for (const auto why : {Mismatch::host, Mismatch::port, Mismatch::method, Mismatch::path, Mismatch::query,
                         Mismatch::header, Mismatch::grpc}) {
    std::string names;
    std::size_t count = 0;
    for (const PassedOver& passed : report.explanation.passed_over) {
      if (passed.why != why || ++count > most_names) continue;
      names.append(names.empty() ? "" : ", ").append((*report.routes)[passed.route].name);
    }
    if (count > most_names) names += fmt::format(" and {} more", count - most_names);
    if (count > 0) page.line("not matched", fmt::format("by {}: {}", policy::word(why), names));
  }
}

void list_waits(const Explanation& explanation, TextPage& page) {
  if (explanation.waits.empty()) return page.line("waits", "none");
  page.line("waits", fmt::format("{:<7} {:>9} {:>9}   {}", "after", "lowest", "highest", "next attempt"));
  for (const PlannedWait& wait : explanation.waits) {
    page.line("waits", fmt::format("{:<7} {:>9} {:>9}   {}", wait.after, span(wait.lowest),
                                   span(wait.highest), "at " + between(wait.earliest, wait.latest)));
  }
  if (explanation.waits_left_out)
    page.line("waits", fmt::format("... only the first {} are listed", explanation.waits.size()));
}

// Describes the deadline. Also says when the last attempt would end if the waits were as long as possible,
// and how much time would then be left.
std::string deadline_text(const ExplainReport& report) {
  const auto& deadline = report.explanation.deadline;
  if (!deadline) return "none";
  if (report.explanation.hangs)
    return fmt::format("{} from the request head{}; it does not end an attempt that waits for its response",
                       span(*deadline), deadline_owner(report));
  const Course& course = report.explanation.highest;
  std::string text =
      fmt::format("{} from the request head{}; attempt {} ends at {} at the latest", span(*deadline),
                  deadline_owner(report), course.last.number, span(course.last_ended));
  const Duration left = *deadline - course.last_ended;
  const Duration wait = course.last_verdict.delay;
  const std::string late =
      left < Duration::zero() ? span(-left) + " after the deadline" : "exactly at the deadline";
  if (course.last_verdict.reason == Reason::deadline_too_near && left <= Duration::zero())
    return text + ", " + late;
  if (course.last_verdict.reason == Reason::deadline_too_near) {
    return text +
           fmt::format(", {} left; a wait of {} ends {} too late", span(left), span(wait), span(wait - left));
  }
  return text + (left < Duration::zero() ? fmt::format(", {} after the deadline", span(-left))
                                         : fmt::format(", {} left", span(left)));
}

std::string pause_text(const ExplainReport& report, Duration asked) {
  const policy::RetryPolicy& retry = report.route_policy().retry;
  std::string text = fmt::format("the upstream asks for {}, the route allows {} (retry_after.maximum)",
                                 span(asked), span(retry.retry_after.maximum));
  if (!retry.retry_after.honour)
    text = "the upstream asks for " + span(asked) + ", which is not honoured (retry_after.honour)";
  return text;
}

std::string ending(const Course& course, policy::AttemptLimit limit) {
  if (course.endless) return fmt::format("still retrying after attempt {}", course.last.number);
  const Reason reason = course.last_verdict.reason;
  return fmt::format("{} after attempt {}: {}", policy::word(reason), course.last.number,
                     policy::meaning(reason, limit));
}

void list_resume(const ExplainReport& report, TextPage& page) {
  const Explanation& explanation = report.explanation;
  if (!explanation.resumes) return;
  const policy::RoutePolicy& policy = report.route_policy();
  page.line("resume",
            fmt::format(
                "if the response has {}, a known length and no content coding, a broken download is resumed:",
                policy::either_of_validators(policy.resume)));
  page.line("resume",
            fmt::format("after {}, then after longer waits; up to {} attempts in a row without a byte; after "
                        "{} without a byte, the rest is also requested on a second connection",
                        between(explanation.resume_wait.lowest, explanation.resume_wait.highest),
                        policy.resume.max_attempts, span(policy.resume.stall)));
}

std::string why_it_hangs(const ExplainReport& report) {
  return fmt::format("nothing ends attempt {}: {}", report.explanation.lowest.first.number,
                     report.route_policy().retry.attempt_timeout
                         ? "the route sets no response_timeout, and its attempt_timeout does not end an "
                           "attempt that cannot be repeated"
                         : "the route sets neither attempt_timeout nor response_timeout");
}

void list_endings(const ExplainReport& report, TextPage& page) {
  const Explanation& explanation = report.explanation;
  if (explanation.hangs) return page.line("ends", why_it_hangs(report));
  const std::string low =
      (explanation.resumes ? "otherwise " : "") + ending(explanation.lowest, explanation.limit);
  const std::string high =
      (explanation.resumes ? "otherwise " : "") + ending(explanation.highest, explanation.limit);
  if (low == high) return page.line("ends", low);
  page.line("ends", "with the shortest waits: " + low);
  page.line("ends", "with the longest waits: " + high);
}

void list_hint(const ExplainReport& report, TextPage& page) {
  const auto* responded = std::get_if<policy::Responded>(&report.explanation.outcome);
  if (responded == nullptr) return;
  if (responded->hints.retry_after) page.line("pause", pause_text(report, *responded->hints.retry_after));
}

std::string budget_text(const ExplainReport& report) {
  if (!policy::host_parts(report.route_policy()).budget) return "off";
  return fmt::format("{} retries left, if no other requests go to this upstream",
                     std::floor(report.explanation.lowest.first_budget_left));
}

std::string hedge_text(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  const auto& after = policy.hedge->after;
  const std::string when = after ? span(*after) + " without a response head"
                                 : "the route's p95 without a response head (once there are 20 responses)";
  const Reason judged = *report.explanation.hedge;
  if (judged == Reason::hedged) return "a hedge after " + when;
  if (judged == Reason::observe_only) return "none; outside observe mode a hedge after " + when;
  return fmt::format("none: {}", policy::word(judged));
}

bool is_repeatable(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  return policy::is_repeatable(explanation.facts, report.route_policy(), explanation.held);
}

std::string replay(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  const policy::Facts& facts = report.explanation.facts;
  const bool repeats = facts.idempotent == policy::Idempotency::yes ||
                       policy::repeats_after_refusal(policy, report.explanation.http2);
  if (policy.mode == policy::Mode::off || !repeats)
    return "the body is not held, because the request would not be sent again";
  const std::uint64_t disk = std::min(policy::disk_share(facts, policy, report.explanation.http2),
                                      std::uint64_t{report.limits.replay_disk_bytes});
  const std::uint64_t memory =
      std::min<std::uint64_t>(policy.replay_memory_bytes, report.limits.replay_memory_bytes);
  std::string text = fmt::format("a body of up to {} is held in memory", size_text(memory));
  if (disk > 0) text += fmt::format(", a longer one of up to {} on disk", size_text(disk));
  return text + fmt::format("; limits of all requests together: {} in memory and {} on disk",
                            size_text(report.limits.replay_memory_bytes),
                            size_text(report.limits.replay_disk_bytes));
}

std::string connecting(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  std::string text =
      fmt::format("{} to connect to one address, {} for all of them", duration_text(policy.connect_timeout),
                  duration_text(2 * policy.connect_timeout));
  if (report.explanation.deadline) text += "; resolving, connecting and TLS end at the deadline";
  return text;
}

std::string responding(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  if (is_repeatable(report) && policy.retry.attempt_timeout) {
    return fmt::format("{} from the last request byte to the response head (attempt_timeout){}",
                       duration_text(*policy.retry.attempt_timeout),
                       report.explanation.deadline ? ", or the deadline" : "");
  }
  const std::string_view why =
      policy.retry.attempt_timeout ? ": attempt_timeout does not end an attempt that cannot be repeated" : "";
  if (policy.response_timeout == policy::no_limit && !report.explanation.call.empty())
    return "as long as the upstream takes (only timeouts that the route itself sets apply to calls)";
  if (policy.response_timeout == policy::no_limit)
    return fmt::format("as long as the upstream takes (response_timeout: none){}", why);
  return fmt::format("{} from the last request byte to the response head (response_timeout){}",
                     duration_text(policy.response_timeout), why);
}

// Describes the keys `http2` and `refused_stream` of the route. Empty if the route has the default and the
// request uses HTTP/1.
std::string http2(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  if (policy.http2 == policy::UseHttp2::never && !report.explanation.call.empty())
    return "never: a gRPC call fails, because it is never sent over HTTP/1.1";
  if (policy.http2 == policy::UseHttp2::never) return "never: the request is sent over HTTP/1.1";
  const bool is_always = policy.http2 == policy::UseHttp2::always;
  if (!report.explanation.http2) {
    if (!is_always) return {};
    return "HTTP/1.1 in spite of `http2: always`: the request asks for another protocol or authenticates its "
           "connection";
  }
  std::string text = is_always ? "always: the request is sent over HTTP/2 or fails"
                               : "auto: the request is sent over HTTP/2, because the client uses it";
  return text + (policy.refused_stream == policy::RefusedStream::trust
                     ? "; a refused stream was not processed (refused_stream: trust)"
                     : "; a refused stream may have been processed (refused_stream: doubt)");
}

std::string connection(const ExplainReport& report) {
  if (report.explanation.http2)
    return "the HTTP/2 connection that this client's connection uses already; else an idle or a fresh one; "
           "a retry uses another one";
  if (is_repeatable(report))
    return "any idle connection; if it was stale, an immediate retry on a fresh one (stale_connection)";
  return "a fresh one for the first unrepeatable request of a client connection; for later ones, also a "
         "connection that was used in the last second, because it is unlikely to be stale";
}

std::string circuit(const policy::CircuitPolicy& circuit) {
  return fmt::format(
      "opens if {:g}% of at least {} attempts within {} failed; nothing is sent for {} after that "
      "(circuit_open)",
      circuit.failures * 100, circuit.requests, duration_text(circuit.window), duration_text(circuit.open));
}

std::string host_pause(WhilePaused what, const policy::RetryPolicy& retry) {
  if (what == WhilePaused::fail)
    return "while the upstream has asked for a pause, nothing is sent (host_paused)";
  return fmt::format(
      "while the upstream has asked for a pause, every attempt waits until the pause ends, and up to {} "
      "longer",
      duration_text(retry.backoff.initial));
}

// Returns true if the last response is a 407. It is not delivered, because only a proxy may ask for the
// password of a proxy (row J8).
bool has_refused_password(const ExplainReport& report) {
  const auto* responded = std::get_if<policy::Responded>(&report.explanation.outcome);
  return responded != nullptr && responded->status == 407 && !report.question.tunnel;
}

// Returns ", with Reprise-Reason: ...", or nothing if the route adds no such field.
std::string with_reason(const ExplainReport& report) {
  if (report.route_policy().response_headers == policy::ResponseHeaders::none) return {};
  return fmt::format(", with Reprise-Reason: {}",
                     policy::word(report.explanation.highest.last_verdict.reason));
}

std::string in_place_of_407(const ExplainReport& report) {
  const std::string status = report.explanation.call.empty()
                                 ? "502"
                                 : "200 with grpc-status " + status_text(http::status_of_failure(502, false));
  return status + " from reprise" + with_reason(report) + "; a 407 is never delivered";
}

}  // namespace

std::string place_of(const policy::Route& route, const std::string& file) {
  if (route.line == 0) return "built-in";
  if (!route.source.empty()) return fmt::format("preset {}:{}", route.source, route.line);
  return fmt::format("{}:{}", file, route.line);
}

std::string client_gets(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  const Course& course = explanation.highest;
  if (explanation.hangs) {
    return fmt::format("nothing before the upstream or the client ends attempt {}",
                       explanation.lowest.first.number);
  }
  if (course.endless) return "nothing yet";
  const auto* fail = std::get_if<policy::Fail>(&course.end);
  if (fail == nullptr && has_refused_password(report)) return in_place_of_407(report);
  if (fail == nullptr && !explanation.call.empty()) return call_gets(report);
  if (explanation.resumes)
    return "the whole response if it is resumed; otherwise the part that arrived, and then the end of the "
           "connection";
  if (std::holds_alternative<policy::Cut>(course.end))
    return "the part of the response that arrived, and then the end of the connection";
  if (fail == nullptr)
    return fmt::format("the upstream's last response, {}, unchanged",
                       std::get<policy::Responded>(explanation.outcome).status);
  if (fail->close) return "no response: the client's connection is closed, as the upstream's was (on_broken)";
  const int status = http::failure_reply(course.ledger, fail->gateway_timeout, "reprise").status;
  std::string text =
      explanation.call.empty() ? std::to_string(status) : failed_call_gets(explanation, course);
  text += " from reprise" + with_reason(report);
  policy::Facts if_intercepted = explanation.facts;
  if_intercepted.unaware_client = true;
  if (policy::closes_like_upstream(if_intercepted, course.ledger, report.route_policy()))
    text += "; for a transparent or intercepted client, the connection is closed instead (on_broken)";
  return text;
}

std::vector<std::string> held_back(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  const policy::Outcome& outcome = report.explanation.outcome;
  if (!report.explanation.call.empty()) return held_of_call(report);
  if (!policy.hold || report.question.tunnel) return {};
  const auto* responded = std::get_if<policy::Responded>(&outcome);
  const bool applies = responded != nullptr ? policy::hold_for(policy, *responded) != nullptr
                                            : policy::is_broken_response(outcome);
  if (!applies) return {};
  std::vector<std::string> lines;
  const std::string time = duration_text(policy.hold->time);
  if (policy.hold->bytes > 0) {
    lines.push_back(fmt::format(
        "up to {} of the body, for up to {}; a break in this part is `truncated`, a later one is not",
        size_text(policy.hold->bytes), time));
  }
  if (responded == nullptr) return lines;
  for (const policy::BodyPredicate& predicate : policy.hold->body) {
    if (!policy::concerns(predicate, responded->status)) continue;
    const std::string asked = policy::describe(predicate);
    lines.push_back(
        predicate.header.empty()
            ? fmt::format("for up to {}; the request is retried if the body has `{}`", time, asked)
            : fmt::format("nothing; the request is retried if the head has `{}`", asked));
  }
  return lines;
}

std::vector<ReportedLimit> limits_of(const ExplainReport& report) {
  const policy::RoutePolicy& policy = report.route_policy();
  std::vector<ReportedLimit> limits;
  if (!report.question.tunnel) limits.push_back({"replay", replay(report)});
  limits.push_back({"connect", connecting(report)});
  if (!report.question.tunnel) {
    limits.push_back({"response", responding(report)});
    if (report.explanation.facts.call_deadline) limits.push_back({"time left", std::string(time_left)});
    if (std::string text = http2(report); !text.empty()) limits.push_back({"http2", std::move(text)});
    limits.push_back({"connection", connection(report)});
  }
  // Omits the circuit and the host pause if the route does not use them, for example in mode `off` or
  // `observe`.
  const policy::HostParts parts = policy::host_parts(policy);
  if (parts.circuit) limits.push_back({"circuit", circuit(*policy.circuit)});
  if (parts.pause) limits.push_back({"host pause", host_pause(policy.while_paused, policy.retry)});
  return limits;
}

std::vector<std::string> advices(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  if (explanation.hangs) return {advice_if_hanging(explanation, report.route_policy())};
  std::vector<std::string> list;
  for (const Course* course : {&explanation.lowest, &explanation.highest}) {
    std::string text = advice(course->last_verdict.reason, explanation, report.route_policy());
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
  return list;
}

std::string to_text(const ExplainReport& report) {
  const Explanation& explanation = report.explanation;
  const policy::Route& route = report.route();
  TextPage page;
  for (const std::string& text : report.https) page.line("https", text);
  if (!report.settings.empty()) page.line("settings", report.settings);
  page.line("request", report.method + " " + report.url);
  if (!explanation.call.empty()) page.line("gRPC call", explanation.call);
  page.line("assumed", report.assumed);
  page.line("route", fmt::format("{} ({})", route.name, place_of(route, report.file)));
  list_passed_over(report, page);
  page.line("idempotent", judged(report));
  const bool is_observed =
      !explanation.hangs && explanation.lowest.first_verdict.reason == Reason::observe_only;
  const bool says_more = !explanation.waits.empty() || is_observed;
  if (says_more) page.line(fmt::format("attempt {}", explanation.lowest.first.number), first_verdict(report));
  list_hint(report, page);
  list_waits(explanation, page);
  page.line("deadline", deadline_text(report));
  page.line("budget", budget_text(report));
  if (explanation.hedge) page.line("hedge", hedge_text(report));
  for (const ReportedLimit& limit : limits_of(report)) page.line(limit.name, limit.text);
  list_resume(report, page);
  for (const std::string& text : held_back(report)) page.line("held back", text);
  list_endings(report, page);
  page.line("client gets", client_gets(report));
  for (const std::string& text : advices(report)) page.line("to change", text);
  for (const std::string& text : report.notes) page.line("note", text);
  return page.take();
}

}  // namespace reprise::tools
