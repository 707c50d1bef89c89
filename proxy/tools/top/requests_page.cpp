#include "proxy/tools/top/requests_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/tools/top/bar.hpp"
#include "proxy/tools/top/layout.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::tools {
namespace {

std::string milliseconds(double span) { return seconds_text(span / 1000); }

// Returns the time of day from a time such as `2026-11-24T15:04:05.123Z`.
std::string clock_of(const std::string& time) { return time.size() >= 19 ? time.substr(11, 8) : time; }

bool is_failed_call(const RequestReading& story) { return !story.grpc.empty() && story.grpc != "ok"; }

// Returns the HTTP status, and the status of a gRPC call if it is known.
std::string status_text(int status, const std::string& grpc) {
  if (grpc.empty()) return std::to_string(status);
  return (status == 200 ? "" : std::to_string(status) + " ") + "grpc " + grpc;
}

std::string status_of(const RequestReading& story) {
  if (story.ending == "cut") return "cut";
  if (story.ending == "client_gone") return "gone";
  if (story.status == 200 && is_failed_call(story)) return "grpc";
  return story.status == 0 ? "-" : std::to_string(story.status);
}

Style style_of_ending(const RequestReading& story) {
  if (story.ending != "complete" || story.status == 0 || story.status >= 500) return Style::bad;
  return story.status >= 400 || is_failed_call(story) ? Style::warning : Style::good;
}

std::string outcome_text(const AttemptReading& attempt) {
  const std::string code = attempt.reset_code.empty() ? "" : " (" + attempt.reset_code + ")";
  std::string text = attempt.status != 0
                         ? status_text(attempt.status, attempt.grpc)
                         : fmt::format("{}{} in stage {}", attempt.error, code, attempt.stage);
  return text + fmt::format(" after {}, {} bytes sent", milliseconds(attempt.took), attempt.sent_bytes);
}

std::string what_then(const AttemptReading& attempt) {
  std::string text = attempt.reason;
  if (attempt.retried)
    text += attempt.delay > 0 ? ": retried after " + milliseconds(attempt.delay) : ": retried at once";
  if (attempt.delay_highest > 0)
    text += fmt::format(", drawn from {} to {}", milliseconds(attempt.delay_lowest),
                        milliseconds(attempt.delay_highest));
  if (attempt.budget_left) text += fmt::format("; {} retries left in the budget", *attempt.budget_left);
  return text;
}

void append_attempt(std::vector<Line>& lines, const AttemptReading& attempt, const Display& display) {
  std::string text = "at " + milliseconds(attempt.at) + ": ";
  text += attempt.address.empty() ? "no connection opened" : attempt.address;
  if (!attempt.http.empty()) text += ", HTTP/" + attempt.http;
  if (attempt.reused) text += ", reused connection";
  if (attempt.queued > 0) text += fmt::format(", {} in the queue for a stream", milliseconds(attempt.queued));
  append_row(lines, fmt::format("attempt {}", attempt.number),
             text + "; " + outcome_text(attempt) + "; " + what_then(attempt), display);
}

std::string client_got(const RequestReading& story) {
  std::string text = story.status == 0 ? "no response" : status_text(story.status, story.grpc);
  if (story.own_response) text += " from reprise";
  text += fmt::format(" after {}, {} bytes of body", milliseconds(story.took), story.response_bytes);
  if (story.ending != "complete" && !story.ending.empty()) text += "; " + story.ending;
  if (story.recovered) text += "; recovered";
  if (story.ambiguous) text += "; ambiguous: an earlier attempt may have taken effect";
  return text;
}

std::vector<Line> legend(const Display& display) {
  std::vector<Line> items;
  const auto add = [&items](const std::string& mark, std::string_view meaning) {
    items.emplace_back((items.empty() ? " " : "") + mark + " " + std::string(meaning), Style::faint);
  };
  add(mark_of(DrawnResult::taken, display.charset), "response delivered");
  add(mark_of(DrawnResult::refused, display.charset), "response not delivered");
  add(mark_of(DrawnResult::failed, display.charset), "failed");
  add(wait_mark(display.charset), "wait");
  return items;
}

}  // namespace

std::string reason_text(const RequestReading& story) {
  std::string text = story.meaning.empty() ? story.reason : story.meaning;
  if (story.recovered) text = "recovered by a retry";
  if (!story.advice.empty()) text += "; to change: " + story.advice;
  return text;
}

std::vector<Line> request_rows(const RequestReading& story, bool with_route, const Display& display) {
  const Charset& charset = display.charset;
  constexpr std::size_t narrow = 60, indent = 10, longest_reason = 19, to_reason = 2 + 8 + 5 + longest_reason;
  const std::string took = padded_left(milliseconds(story.took), display.columns < narrow ? 6 : 8, charset);
  const std::string target =
      story.method + " " + story.target + (is_failed_call(story) ? ": " + story.grpc : "");
  const std::string route = with_route && story.route != "default" ? "  (" + story.route + ")" : "";
  const std::size_t bar = display.columns < narrow ? 0 : std::clamp<std::size_t>(display.columns / 5, 10, 60);
  const std::size_t used = to_reason + columns_of(took, charset) + 1 + columns_of(target, charset);
  const bool fits = used <= display.columns;
  const bool fits_with_bar = bar > 0 && used + 1 + bar <= display.columns;
  const bool has_bar = bar > 0 && (fits_with_bar || !fits);
  Line line(" " + padded(clock_of(story.time), 8, charset) + " ");
  line.add(padded(status_of(story), 5, charset), style_of_ending(story));
  line.add(padded(story.reason, longest_reason, charset));
  if (has_bar) {
    line.add(" ");
    for (Piece& piece : bar_of(story, bar, charset)) line.pieces.push_back(std::move(piece));
  }
  line.add(took);
  if (fits) {
    const std::size_t whole = used + (has_bar ? 1 + bar : 0);
    line.add(" " + target);
    if (whole + columns_of(route, charset) <= display.columns) line.add(route, Style::faint);
    return {std::move(line)};
  }
  // If the target does not fit on the first line, it follows on separate lines, and the bar stays on the
  // first line.
  std::vector<Line> lines{std::move(line)};
  for (std::string& part :
       wrapped(target + route, display.columns > indent ? display.columns - indent : 1, charset))
    lines.emplace_back(std::string(indent, ' ') + std::move(part));
  return lines;
}

std::vector<Line> request_lines(const RequestReading& story, const Display& display) {
  std::vector<Line> lines;
  append_row(lines, "request", story.method + " " + story.target, display);
  Line bar(" ");
  for (Piece& piece : bar_of(story, display.columns > 2 ? display.columns - 2 : 1, display.charset))
    bar.pieces.push_back(std::move(piece));
  lines.push_back(std::move(bar));
  for (Line& line : flowed(legend(display), display)) lines.push_back(std::move(line));
  append_row(lines, "id", story.id + ", ended " + story.time, display);
  if (!story.client.empty()) append_row(lines, "client", story.client, display);
  append_row(lines, "idempotent", story.idempotent ? "yes" : "no, or not known before the body was read",
             display);
  for (std::size_t i = 0; i < story.attempts.size(); ++i) {
    if (story.left_out > 0 && i == story.before_the_gap)
      append_row(lines, "...", fmt::format("{} more", story.left_out), display);
    append_attempt(lines, story.attempts[i], display);
  }
  append_row(lines, "ends", story.reason + ": " + story.meaning, display, Style::strong);
  append_row(lines, "client got", client_got(story), display);
  if (!story.advice.empty()) append_row(lines, "to change", story.advice, display, Style::strong);
  return lines;
}

std::vector<Line> requests_page(const Watch& watch, const View& view, const Display& display,
                                std::size_t rows) {
  const auto stories = requests_of_route(watch, view);
  std::vector<Line> lines;
  lines = flowed(
      {Line(fmt::format(" LAST RETRIED OR REFUSED OF {}: {}", view.route, stories.size()), Style::heading)},
      display);
  if (stories.empty()) {
    for (std::string& part : wrapped("none in the history: the proxy keeps the last 100 requests that were "
                                     "retried, refused, cut or failed",
                                     display.columns, display.charset))
      lines.emplace_back(std::move(part), Style::faint);
    return lines;
  }
  const std::size_t place =
      place_in(stories, [&](const RequestReading& one) { return one.id == view.story; });
  // The details of the selected request are shown below the list if there is room for at least a part of
  // them.
  constexpr std::size_t least_for_both = 14;
  const std::size_t room = rows > lines.size() ? rows - lines.size() : 1;
  // Assumes that every request has as many lines as the request with the most lines, so that all pages have
  // the same number of requests.
  std::size_t each = 1;
  for (const RequestReading& story : stories)
    each = std::max(each, request_rows(story, false, display).size());
  const std::size_t most = std::max<std::size_t>(1, (rows >= least_for_both ? room / 2 : room) / each);
  const std::size_t listed = std::min(stories.size(), most);
  const std::size_t from = page_of(place, listed);
  for (std::size_t i = from; i < std::min(stories.size(), from + listed); ++i) {
    std::vector<Line> one = request_rows(stories[i], false, display);
    if (i == place) {
      one.front().pieces.front().text.front() = '>';
      for (Line& line : one) line.chosen = true;
    }
    lines.insert(lines.end(), std::make_move_iterator(one.begin()), std::make_move_iterator(one.end()));
  }
  if (rows < least_for_both) return lines;
  lines.emplace_back();
  for (Line& line : request_lines(stories[place], display)) lines.push_back(std::move(line));
  return lines;
}

std::vector<Line> request_page(const Watch& watch, const View& view, const Display& display,
                               std::size_t rows) {
  const auto& all = watch.stories();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const RequestReading& one) { return one.id == view.story; });
  if (found == all.end())
    return {Line(" request " + view.story + " is no longer in the history", Style::faint)};
  return scrolled_to(request_lines(*found, display), view.scrolled, rows);
}

}  // namespace reprise::tools
