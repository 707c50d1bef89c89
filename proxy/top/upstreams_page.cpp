// The configuration in force, listeners, and every upstream that something is known of.
#include <fmt/format.h>

#include <algorithm>

#include "proxy/top/bar.hpp"
#include "proxy/top/pages.hpp"

namespace reprise::top {
namespace {

void append_configuration(std::vector<Line>& lines, const Status& status, const Look& look) {
  std::string text = status.config_file.value_or("built-in defaults");
  if (!status.config_hash.empty()) text += ", hash " + status.config_hash;
  append_row(lines, "config", text, look);
  if (!status.reload || status.reload->errors.empty()) {
    bool bad = false;
    const std::string reload = reload_text(status, bad);
    append_row(lines, "reload", reload, look, bad ? Style::bad : Style::plain);
  } else {
    const std::string ago = age_text(status.started + status.uptime - status.reload->unix_time);
    append_row(lines, "reload", "FAILED " + ago + " ago, the one before goes on:", look, Style::bad);
    for (const std::string& error : status.reload->errors) append_row(lines, "", error, look, Style::bad);
  }
  std::string listeners;
  for (const std::string& listener : status.listeners)
    listeners += (listeners.empty() ? "" : ", ") + listener;
  append_row(lines, "listening", listeners, look);
}

// What was tunnelled, and what would make it readable.
void append_unread(std::vector<Line>& lines, const Status& status, const Look& look) {
  for (const UnreadReading& host : status.unread) {
    std::string text =
        fmt::format("HTTPS to {}, {} tunnel{}", host.name, host.tunnels, host.tunnels == 1 ? "" : "s");
    if (!host.intercept.empty())
      text += ": --intercept " + host.intercept + ", or http:// and tls: originate";
    append_row(lines, &host == &status.unread.front() ? "not read" : "", text, look, Style::warning);
  }
}

Line upstream_row(const UpstreamFigures& figures, std::size_t name_width, const Look& look) {
  const UpstreamReading& upstream = figures.now;
  Line line(" " + padded(upstream.name, name_width, look.charset));
  line.add(padded_left(rate_text(figures.attempts_a_second), 8, look.charset));
  line.add(padded_left(upstream.circuit.empty() ? "closed" : upstream.circuit, 11, look.charset),
           upstream.circuit.empty() ? Style::plain : Style::bad);
  line.add(padded_left(upstream.pause_seconds ? seconds_text(*upstream.pause_seconds) : "-", 8, look.charset),
           upstream.pause_seconds ? Style::warning : Style::plain);
  const double left = upstream.budget_left.value_or(1);
  line.add(fmt::format("  {:>4.0f}% ", 100 * left), left < 0.25 ? Style::bad : Style::plain);
  return line.add(gauge_of(left, 22));
}

}  // namespace

std::vector<Line> upstreams_page(const Watch& watch, const View& view, const Look& look, std::size_t rows) {
  const Status& status = watch.status();
  std::vector<Line> lines;
  append_configuration(lines, status, look);
  append_unread(lines, status, look);
  const std::size_t name_width = std::clamp<std::size_t>(look.columns / 3, 8, 60);
  lines.emplace_back();
  lines.emplace_back(
      " " + padded("UPSTREAM", name_width, look.charset) + "  TRIES/S    CIRCUIT   PAUSE  BUDGET LEFT",
      Style::heading);
  const auto upstreams = watch.upstreams();
  for (const UpstreamFigures& upstream : upstreams) lines.push_back(upstream_row(upstream, name_width, look));
  if (upstreams.empty())
    lines.emplace_back(" nothing is known of any: full budgets, closed circuits, no pause", Style::faint);
  return scrolled_to(std::move(lines), view.scrolled, rows);
}

}  // namespace reprise::top
