// The lines above every page.
#include <fmt/format.h>

#include <algorithm>

#include "proxy/top/pages.hpp"

namespace reprise::top {
namespace {

// From so many rows on there is room for more than one line.
constexpr std::size_t roomy = 16;
// For so many seconds a restart is told.
constexpr double told_for = 20;

Line identity(const Watch& watch, const Look& look) {
  if (watch.empty()) return Line("reprise at " + look.where, Style::strong);
  const Status& status = watch.status();
  Line line("reprise " + status.version, Style::strong);
  if (status.draining) {
    line.add("  draining", Style::warning);
  } else if (status.ready) {
    line.add("  ready", Style::good);
  } else {
    line.add("  not ready", Style::bad);
  }
  line.add(fmt::format("  {} req/s  {} clients  up {}", rate_text(watch.rate()), status.clients,
                       age_text(status.uptime)));
  return line.add("  " + look.where, Style::faint);
}

Line configuration(const Status& status) {
  Line line("config ", Style::strong);
  line.add(status.config_file.value_or("built-in defaults"));
  if (!status.config_hash.empty()) line.add(", hash " + status.config_hash);
  bool bad = false;
  const std::string reload = reload_text(status, bad);
  line.add("  reload ", Style::strong);
  return line.add(reload, bad ? Style::bad : Style::plain);
}

struct Troubles {
  std::size_t circuits = 0, pauses = 0, budgets = 0;
};

Troubles troubles_of(const Status& status) {
  Troubles troubles;
  for (const UpstreamReading& upstream : status.upstreams) {
    if (!upstream.circuit.empty()) ++troubles.circuits;
    if (upstream.pause_seconds) ++troubles.pauses;
    if (upstream.budget_left.value_or(1) < 1) ++troubles.budgets;
  }
  return troubles;
}

Line pools(const Status& status) {
  Line line("upstreams ", Style::strong);
  if (status.upstream_active || status.upstream_idle)
    line.add(fmt::format("{} active, {} idle  ", status.upstream_active.value_or(0),
                         status.upstream_idle.value_or(0)));
  const Troubles troubles = troubles_of(status);
  const auto add = [&line](std::size_t count, std::string_view what, std::string_view none, Style style) {
    if (count == 0) {
      line.add(std::string(none));
    } else {
      line.add(fmt::format("{}: {}", what, count), style);
    }
    line.add("  ");
  };
  add(troubles.circuits, "circuits not closed", "circuits closed", Style::bad);
  add(troubles.pauses, "paused", "no pause", Style::warning);
  add(troubles.budgets, "budgets drawn on", "budgets full", Style::warning);
  if (status.rejected > 0) line.add(fmt::format("{} rejected", status.rejected));
  return line;
}

// Tunnels are no requests: the first host whose HTTPS could not be read, and what would help.
Line tunnels(const Status& status) {
  Line line("tunnels ", Style::strong);
  line.add(fmt::format("{} ended", status.tunnels));
  if (status.unread.empty()) return line;
  const UnreadReading& host = status.unread.front();
  line.add("  HTTPS not read: " + host.name, Style::warning);
  if (!host.intercept.empty()) line.add(" (--intercept " + host.intercept + ")");
  if (status.unread.size() > 1) line.add(fmt::format(" and {} more: u", status.unread.size() - 1));
  return line;
}

// What has to be known before any figure is believed: the gravest first.
std::vector<Line> notices(const Watch& watch, const View& view, const Look& look) {
  std::vector<Line> lines;
  if (watch.loss()) {
    const double seconds = std::max(0.0, look.now - watch.loss()->since);
    const std::string text = fmt::format(
        "NO RESPONSE for {}; asking again every {}, and these are figures of before: {}",
        age_text(static_cast<std::int64_t>(seconds)), look.interval, shown(watch.loss()->why, look.charset));
    constexpr std::size_t most_lines = 4;
    for (std::string& part : wrapped(text, look.columns, look.charset))
      if (lines.size() < most_lines) lines.emplace_back(std::move(part), Style::bad);
  }
  if (watch.restarted_at() && look.now - *watch.restarted_at() < told_for)
    lines.emplace_back("RESTARTED: the proxy counts from 0 again", Style::warning);
  if (view.paused) lines.emplace_back("PAUSED: p goes on", Style::warning);
  return lines;
}

}  // namespace

std::string reload_text(const Status& status, bool& bad) {
  if (!status.reload) return "none since the start";
  const std::string ago = age_text(status.started + status.uptime - status.reload->unix_time) + " ago";
  if (status.reload->succeeded) return "succeeded " + ago;
  bad = true;
  std::string text = "FAILED " + ago + ", the one before goes on";
  const auto& errors = status.reload->errors;
  if (errors.empty()) return text;
  text += ": " + errors.front();
  if (errors.size() > 1) text += fmt::format(" (and {} more: u)", errors.size() - 1);
  return text;
}

std::vector<Line> head_lines(const Watch& watch, const View& view, const Look& look) {
  std::vector<Line> lines{identity(watch, look)};
  std::vector<Line> told = notices(watch, view, look);
  if (watch.empty()) {
    lines.insert(lines.end(), told.begin(), told.end());
    return lines;
  }
  const Status& status = watch.status();
  if (look.rows < roomy) {
    const bool failed = status.reload && !status.reload->succeeded;
    if (!told.empty()) {
      lines.push_back(std::move(told.front()));
    } else if (failed) {
      bool bad = false;
      lines.emplace_back("reload " + reload_text(status, bad), Style::bad);
    }
    return lines;
  }
  lines.push_back(configuration(status));
  lines.push_back(pools(status));
  if (status.tunnels > 0 || !status.unread.empty()) lines.push_back(tunnels(status));
  lines.insert(lines.end(), told.begin(), told.end());
  lines.emplace_back();
  return lines;
}

}  // namespace reprise::top
