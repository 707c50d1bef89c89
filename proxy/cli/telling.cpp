#include "proxy/cli/telling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "proxy/http/reply.hpp"
#include "proxy/policy/advice.hpp"

namespace reprise::cli {
namespace {

using policy::Course;
using policy::Duration;
using policy::Mismatch;
using policy::Reason;

/// `0s`, `250ms`, `1.75s`, `1m45s`: rounded to milliseconds above one second.
std::string span(Duration duration) {
  using Seconds = std::chrono::duration<double>;
  const auto number = [](double value) {
    std::string text = fmt::format("{:.3f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  if (duration <= Duration::zero()) return "0s";
  const double seconds = Seconds(duration).count();
  if (seconds < 1) return number(seconds * 1000) + "ms";
  const auto minutes = static_cast<std::uint64_t>(seconds / 60);
  const double rest = seconds - static_cast<double>(minutes) * 60;
  std::string text;
  if (minutes >= 60) text += fmt::format("{}h", minutes / 60);
  if (minutes % 60 > 0) text += fmt::format("{}m", minutes % 60);
  return rest >= 0.0005 || text.empty() ? text + number(rest) + "s" : text;
}

std::string between(Duration lowest, Duration highest) {
  return lowest == highest ? span(lowest) : span(lowest) + " to " + span(highest);
}

/// Lines of two columns; a line without a heading goes on with the one above.
class Page {
 public:
  void line(std::string_view heading, std::string_view text) {
    text_ += fmt::format("{:<12}{}\n", heading == last_ ? "" : heading, text);
    last_ = heading;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string last_;
};

std::string quoted(const policy::Condition& condition) { return "`" + policy::describe(condition) + "`"; }

std::string judged(const Telling& telling) {
  if (telling.question.tunnel) return "yes: a tunnel sends nothing before it stands";
  const policy::Judgement& judgement = telling.explanation.judgement;
  const std::string rule = policy::describe(telling.route().policy.idempotent);
  std::string text = telling.explanation.facts.idempotent == policy::Idempotency::yes ? "yes" : "no";
  if (judgement.verdict == policy::Idempotency::undecided) {
    return text + ": the body cannot be looked into for " + quoted(*judgement.because) + " (" + rule + ")";
  }
  if (judgement.because != nullptr) {
    const bool holds = judgement.verdict == policy::Idempotency::yes;
    text += (holds ? ": it has " : ": it does not have ") + quoted(*judgement.because);
  }
  return text + " (" + rule + ")";
}

std::string first_verdict(const Telling& telling) {
  const policy::Verdict& low = telling.explanation.lowest.first_verdict;
  const policy::Verdict& high = telling.explanation.highest.first_verdict;
  std::string text = fmt::format("{}: {}", policy::word(low.reason), policy::meaning(low.reason));
  if (low.reason != high.reason) text += fmt::format("; or {}", policy::word(high.reason));
  if (low.reason == Reason::observe_only) text += fmt::format(" after {}", between(low.delay, high.delay));
  return text;
}

// One line for each part of a match: the routes of a preset are many.
void list_passed_over(const Telling& telling, Page& page) {
  constexpr std::size_t most_names = 8;
  for (const auto why : {Mismatch::host, Mismatch::port, Mismatch::method, Mismatch::path, Mismatch::query,
                         Mismatch::header}) {
    std::string names;
    std::size_t count = 0;
    for (const policy::PassedOver& passed : telling.explanation.passed_over) {
      if (passed.why != why || ++count > most_names) continue;
      names.append(names.empty() ? "" : ", ").append((*telling.routes)[passed.route].name);
    }
    if (count > most_names) names += fmt::format(" and {} more", count - most_names);
    if (count > 0) page.line("passed over", fmt::format("by {}: {}", policy::word(why), names));
  }
}

void list_waits(const policy::Explanation& told, Page& page) {
  if (told.waits.empty()) return page.line("waits", "none");
  page.line("waits", fmt::format("{:<7} {:>9} {:>9}   {}", "after", "lowest", "highest", "next attempt"));
  for (const policy::PlannedWait& wait : told.waits) {
    page.line("waits", fmt::format("{:<7} {:>9} {:>9}   {}", wait.after, span(wait.lowest),
                                   span(wait.highest), "at " + between(wait.earliest, wait.latest)));
  }
  if (told.waits_left_out)
    page.line("waits", fmt::format("... only the first {} are listed", told.waits.size()));
}

// The arithmetic of the course that runs longest.
std::string deadline_text(const Telling& telling) {
  const auto& deadline = telling.route().policy.retry.deadline;
  if (!deadline) return "none";
  const Course& course = telling.explanation.highest;
  std::string text = fmt::format("{} from the request head; attempt {} ends at {} at the latest",
                                 span(*deadline), course.last.number, span(course.last_ended));
  const Duration left = *deadline - course.last_ended;
  const Duration wait = course.last_verdict.delay;
  const std::string late = left < Duration::zero() ? span(-left) + " after it" : "which ends it";
  if (course.last_verdict.reason == Reason::deadline_too_near && left <= Duration::zero())
    return text + ", " + late;
  if (course.last_verdict.reason == Reason::deadline_too_near) {
    return text +
           fmt::format(", {} left; a wait of {} ends {} too late", span(left), span(wait), span(wait - left));
  }
  return text + (left < Duration::zero() ? fmt::format(", {} after it", span(-left))
                                         : fmt::format(", {} left", span(left)));
}

std::string pause_text(const Telling& telling, Duration asked) {
  const policy::RetryPolicy& retry = telling.route().policy.retry;
  std::string text = fmt::format("{} asked for, {} allowed (retry_after.maximum)", span(asked),
                                 span(retry.retry_after.maximum));
  if (!retry.retry_after.honour) text = span(asked) + " asked for, not honoured (retry_after.honour)";
  return text;
}

std::string ending(const Course& course) {
  if (course.endless) return fmt::format("still trying after attempt {}", course.last.number);
  const Reason reason = course.last_verdict.reason;
  return fmt::format("{} after attempt {}: {}", policy::word(reason), course.last.number,
                     policy::meaning(reason));
}

void list_resume(const Telling& telling, Page& page) {
  const policy::Explanation& told = telling.explanation;
  if (!told.resumes) return;
  const policy::RoutePolicy& policy = telling.route().policy;
  page.line("resume",
            fmt::format("if the answer has {}, a known length and no content coding, it is continued:",
                        policy::either_of_validators(policy.resume)));
  page.line("resume",
            fmt::format("after {}, then longer; up to {} attempts in a row without a byte; {} without "
                        "a byte count as a break",
                        between(told.resume_wait.lowest, told.resume_wait.highest),
                        policy.resume.max_attempts, span(policy.resume.stall)));
}

void list_endings(const policy::Explanation& told, Page& page) {
  const std::string low = (told.resumes ? "otherwise " : "") + ending(told.lowest);
  const std::string high = (told.resumes ? "otherwise " : "") + ending(told.highest);
  if (low == high) return page.line("ends", low);
  page.line("ends", "with the shortest waits: " + low);
  page.line("ends", "with the longest waits: " + high);
}

void list_hint(const Telling& telling, Page& page) {
  const auto* answered = std::get_if<policy::Answered>(&telling.explanation.outcome);
  if (answered == nullptr) return;
  if (answered->hints.retry_after) page.line("pause", pause_text(telling, *answered->hints.retry_after));
}

std::string budget_text(const Telling& telling) {
  if (!telling.route().policy.budget) return "off";
  return fmt::format("{} retries left, if nobody else asks this upstream",
                     std::floor(telling.explanation.lowest.first_budget_left));
}

std::string hedge_text(const Telling& telling) {
  const policy::RoutePolicy& policy = telling.route().policy;
  const auto& after = policy.hedge->after;
  const std::string when = after ? span(*after) + " without a response head"
                                 : "the route's p95 without a response head (from 20 answers on)";
  const Reason judged = hedge_verdict(telling);
  if (judged == Reason::hedged) return "a copy after " + when;
  if (judged == Reason::observe_only) return "none; outside observe mode a copy after " + when;
  return fmt::format("none: {}", policy::word(judged));
}

}  // namespace

bool is_hedged(const Telling& telling) {
  const policy::RoutePolicy& policy = telling.route().policy;
  return policy.hedge && policy.mode != policy::Mode::off && !telling.question.tunnel &&
         telling.explanation.lowest.first.number == 1;
}

Reason hedge_verdict(const Telling& telling) {
  const policy::Explanation& told = telling.explanation;
  policy::Attempt first = told.lowest.first;
  first.replayable = told.held;
  const policy::RoutePolicy& policy = telling.route().policy;
  constexpr policy::Instant head_at{};
  const policy::Instant due = head_at + policy.hedge->after.value_or(Duration::zero());
  std::optional<policy::Instant> deadline;
  if (policy.retry.deadline) deadline = head_at + *policy.retry.deadline;
  const double left = policy.budget ? told.lowest.first_budget_left : std::numeric_limits<double>::infinity();
  return policy::judge_hedge(told.facts, first, policy, due, deadline, left);
}

std::string place_of(const policy::Route& route, const std::string& file) {
  if (route.line == 0) return "built-in";
  if (!route.source.empty()) return fmt::format("preset {}:{}", route.source, route.line);
  return fmt::format("{}:{}", file, route.line);
}

std::string client_gets(const Telling& telling) {
  const policy::Explanation& told = telling.explanation;
  const Course& course = told.highest;
  const Reason reason = course.last_verdict.reason;
  if (course.endless) return "nothing yet";
  if (told.resumes) return "the whole answer if it is continued; else what came of it, and a cut connection";
  const bool broken = policy::is_broken_answer(told.outcome);
  const bool late = reason == Reason::deadline_too_near &&
                    telling.route().policy.retry.out_of_time == policy::OutOfTime::gateway_timeout;
  if (reason == Reason::response_started || (broken && !late))
    return "the part of the answer that came, and a connection that is cut";
  const auto* answered = std::get_if<policy::Answered>(&told.outcome);
  if (answered != nullptr && !late)
    return fmt::format("the upstream's last answer, {}, unchanged", answered->status);
  policy::Ledger ledger;
  ledger.add({course.last, told.outcome, course.last_verdict, {}, {}});
  ledger.reason = reason;
  const int status = http::failure_reply(ledger, answered != nullptr || broken, "reprise").status;
  std::string text = fmt::format("{} from reprise", status);
  if (telling.route().policy.response_headers)
    text += fmt::format(", with Reprise-Reason: {}", policy::word(reason));
  return text;
}

std::vector<std::string> advices(const Telling& telling) {
  const policy::Explanation& told = telling.explanation;
  std::vector<std::string> list;
  for (const Course* course : {&told.lowest, &told.highest}) {
    std::string text = policy::advice(course->last_verdict.reason, told, telling.route().policy);
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }
  return list;
}

std::string to_text(const Telling& telling) {
  const policy::Explanation& told = telling.explanation;
  const policy::Route& route = telling.route();
  Page page;
  page.line("request", telling.method + " " + telling.url);
  page.line("assumed", telling.assumed);
  page.line("route", fmt::format("{} ({})", route.name, place_of(route, telling.file)));
  list_passed_over(telling, page);
  page.line("idempotent", judged(telling));
  const bool says_more = !told.waits.empty() || told.lowest.first_verdict.reason == Reason::observe_only;
  if (says_more) page.line(fmt::format("attempt {}", told.lowest.first.number), first_verdict(telling));
  list_hint(telling, page);
  list_waits(told, page);
  page.line("deadline", deadline_text(telling));
  page.line("budget", budget_text(telling));
  if (is_hedged(telling)) page.line("hedge", hedge_text(telling));
  for (const ToldLimit& limit : limits_of(telling)) page.line(limit.name, limit.text);
  list_resume(telling, page);
  for (const std::string& text : held_back(telling)) page.line("held back", text);
  list_endings(told, page);
  page.line("client gets", client_gets(telling));
  for (const std::string& text : advices(telling)) page.line("to change", text);
  for (const std::string& text : telling.notes) page.line("note", text);
  return page.take();
}

}  // namespace reprise::cli
