#include "proxy/tools/top/upstreams_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/tools/top/bar.hpp"
#include "proxy/tools/top/head.hpp"
#include "proxy/tools/top/layout.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::tools {
namespace {

void append_configuration(std::vector<Line>& lines, const Status& status, const Display& display) {
  std::string text = status.config_file.value_or("built-in defaults");
  if (!status.config_hash.empty()) text += ", hash " + status.config_hash;
  append_row(lines, "config", text, display);
  if (!status.reload || status.reload->errors.empty()) {
    bool bad = false;
    const std::string reload = reload_text(status, bad);
    append_row(lines, "reload", reload, display, bad ? Style::bad : Style::plain);
  } else {
    const std::string ago = age_text(status.started + status.uptime - status.reload->unix_time);
    append_row(lines, "reload", "FAILED " + ago + " ago, previous configuration kept:", display, Style::bad);
    for (const std::string& error : status.reload->errors) append_row(lines, "", error, display, Style::bad);
  }
  std::string listeners;
  for (const std::string& listener : status.listeners)
    listeners += (listeners.empty() ? "" : ", ") + listener;
  append_row(lines, "listening", listeners, display);
}

// Appends the hosts whose HTTPS passed through tunnels unread, each with the option that makes its HTTPS
// readable.
void append_unread(std::vector<Line>& lines, const Status& status, const Display& display) {
  for (const UnreadReading& host : status.unread) {
    std::string text =
        fmt::format("HTTPS to {}, {} tunnel{}", host.name, host.tunnels, host.tunnels == 1 ? "" : "s");
    if (!host.intercept.empty())
      text += ": --intercept " + host.intercept + ", or http:// and tls: originate";
    append_row(lines, &host == &status.unread.front() ? "not read" : "", text, display, Style::warning);
  }
}

constexpr std::string_view figure_headings = "  TRIES/S    CIRCUIT   PAUSE  BUDGET LEFT";
constexpr std::size_t figures_width = 37;  // columns that the figures of a row take, without the gauge
constexpr std::size_t gauge_width = 22;

// The layout of the table: names have their own column, or their own line if the longest name does not fit
// beside the figures.
struct Shape {
  std::size_t name = 0;
  bool beside = true;
  bool gauge = true;
};

Shape shape_of(const std::vector<UpstreamFigures>& upstreams, const Display& display) {
  Shape shape;
  for (const UpstreamFigures& one : upstreams)
    shape.name = std::max(shape.name, columns_of(one.now.name, display.charset));
  shape.name = std::max<std::size_t>(shape.name, std::string_view("UPSTREAM").size());
  const std::size_t used = 1 + shape.name + std::max(figures_width, figure_headings.size());
  shape.beside = used <= display.columns;
  shape.gauge = shape.beside && 1 + shape.name + figures_width + gauge_width <= display.columns;
  return shape;
}

Line upstream_figures(const UpstreamFigures& figures, Line line, bool gauge, const Display& display) {
  const UpstreamReading& upstream = figures.now;
  line.add(padded_left(rate_text(figures.attempts_a_second), 8, display.charset));
  line.add(padded_left(upstream.circuit.empty() ? "closed" : upstream.circuit, 11, display.charset),
           upstream.circuit.empty() ? Style::plain : Style::bad);
  line.add(
      padded_left(upstream.pause_seconds ? seconds_text(*upstream.pause_seconds) : "-", 8, display.charset),
      upstream.pause_seconds ? Style::warning : Style::plain);
  const double left = upstream.budget_left.value_or(1);
  line.add(fmt::format("  {:>4.0f}% ", 100 * left), left < 0.25 ? Style::bad : Style::plain);
  return gauge ? line.add(gauge_of(left, gauge_width)) : line;
}

void append_upstreams(std::vector<Line>& lines, const std::vector<UpstreamFigures>& upstreams,
                      const Display& display) {
  const Shape shape = shape_of(upstreams, display);
  const std::string name = shape.beside ? " " + padded("UPSTREAM", shape.name, display.charset) : "";
  if (!shape.beside) lines.emplace_back(" UPSTREAM", Style::heading);
  lines.emplace_back(name + std::string(figure_headings.substr(shape.beside ? 0 : 1)), Style::heading);
  for (const UpstreamFigures& one : upstreams) {
    Line line(shape.beside ? " " + padded(one.now.name, shape.name, display.charset) : "");
    if (!shape.beside)
      for (Line& part : flowed({Line(" " + one.now.name)}, display)) lines.push_back(std::move(part));
    lines.push_back(upstream_figures(one, std::move(line), shape.gauge, display));
  }
}

}  // namespace

std::vector<Line> upstreams_page(const Watch& watch, const View& view, const Display& display,
                                 std::size_t rows) {
  const Status& status = watch.status();
  std::vector<Line> lines;
  append_configuration(lines, status, display);
  append_unread(lines, status, display);
  lines.emplace_back();
  const auto upstreams = watch.upstreams();
  append_upstreams(lines, upstreams, display);
  if (upstreams.empty())
    append_row(lines, "",
               "no upstream to report: budgets are full, circuits are closed, no upstream is paused", display,
               Style::faint);
  return scrolled_to(std::move(lines), view.scrolled, rows);
}

}  // namespace reprise::tools
