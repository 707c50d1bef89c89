#include "proxy/tools/top/head.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/tools/top/layout.hpp"
#include "proxy/tools/top/text.hpp"

namespace reprise::tools {
namespace {

// Minimum number of terminal rows for the full head. On a smaller terminal, the head has at most two lines.
constexpr std::size_t roomy = 16;
// Number of seconds for which a restart is reported.
constexpr double restart_shown_seconds = 20;

std::vector<Line> identity(const Watch& watch, const Display& display) {
  if (watch.empty()) return {Line("reprise at " + display.where, Style::strong)};
  const Status& status = watch.status();
  std::vector<Line> items{Line("reprise " + status.version, Style::strong)};
  if (status.draining) {
    items.emplace_back("draining", Style::warning);
  } else if (status.ready) {
    items.emplace_back("ready", Style::good);
  } else {
    items.emplace_back("not ready", Style::bad);
  }
  items.emplace_back(rate_text(watch.rate()) + " req/s");
  items.emplace_back(fmt::format("{} client{}", status.clients, status.clients == 1 ? "" : "s"));
  items.emplace_back("up " + age_text(status.uptime));
  items.emplace_back(display.where, Style::faint);
  return items;
}

std::vector<Line> configuration(const Status& status) {
  Line file("config ", Style::strong);
  file.add(status.config_file.value_or("built-in defaults"));
  std::vector<Line> items{std::move(file)};
  if (!status.config_hash.empty()) items.emplace_back("hash " + status.config_hash);
  bool bad = false;
  const std::string text = reload_text(status, bad);
  Line reload("reload ", bad ? Style::bad : Style::strong);
  reload.add(text, bad ? Style::bad : Style::plain);
  items.push_back(std::move(reload));
  return items;
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

std::vector<Line> pools(const Status& status) {
  Line first("upstreams ", Style::strong);
  first.add(fmt::format("{} active, {} idle", status.upstream_active.value_or(0),
                        status.upstream_idle.value_or(0)));
  std::vector<Line> items{std::move(first)};
  if (status.http2_connections > 0)
    items.emplace_back(fmt::format("HTTP/2: {} connection{}, {} stream{}", status.http2_connections,
                                   status.http2_connections == 1 ? "" : "s", status.http2_streams,
                                   status.http2_streams == 1 ? "" : "s"));
  const Troubles troubles = troubles_of(status);
  const auto add = [&items](std::size_t count, std::string_view what, std::string_view none, Style style) {
    if (count == 0) {
      items.emplace_back(std::string(none));
    } else {
      items.emplace_back(fmt::format("{}: {}", what, count), style);
    }
  };
  add(troubles.circuits, "circuits not closed", "circuits closed", Style::bad);
  add(troubles.pauses, "paused", "no pause", Style::warning);
  add(troubles.budgets, "budgets in use", "budgets full", Style::warning);
  if (status.rejected > 0) items.emplace_back(fmt::format("{} rejected", status.rejected));
  return items;
}

// Returns items about tunnels, which do not count as requests. The items say how many tunnels ended, name
// the first host whose HTTPS was not read, and give the option with which the proxy would read it.
std::vector<Line> tunnels(const Status& status) {
  Line ended("tunnels ", Style::strong);
  ended.add(fmt::format("{} ended", status.tunnels));
  std::vector<Line> items{std::move(ended)};
  if (status.unread.empty()) return items;
  const UnreadReading& host = status.unread.front();
  items.emplace_back("HTTPS not read: " + host.name, Style::warning);
  if (!host.intercept.empty()) items.emplace_back("(--intercept " + host.intercept + ")");
  if (status.unread.size() > 1)
    items.emplace_back(fmt::format("and {} more: press u", status.unread.size() - 1));
  return items;
}

bool has_tunnels(const Status& status) { return status.tunnels > 0 || !status.unread.empty(); }

// Returns at most one line: a notice if there is one, otherwise a failed reload, otherwise figures about
// tunnels if there were no requests.
std::vector<Line> short_head(const Status& status, std::vector<Line> notice_lines, const Display& display) {
  const auto first_of = [](std::vector<Line> lines) {
    lines.resize(std::min<std::size_t>(lines.size(), 1));
    return lines;
  };
  if (!notice_lines.empty()) return first_of(std::move(notice_lines));
  if (status.reload && !status.reload->succeeded)
    return {
        fitting({Line("reload FAILED", Style::bad), Line("previous kept: press u", Style::bad)}, display)};
  if (has_tunnels(status) && status.requests == 0) return {fitting(tunnels(status), display)};
  return {};
}

// Returns notices about figures that are old or that began again at 0. The most serious notice comes first.
std::vector<Line> notices(const Watch& watch, const View& view, const Display& display) {
  std::vector<Line> lines;
  if (watch.loss()) {
    const double seconds = std::max(0.0, display.now - watch.loss()->since);
    const std::string text =
        fmt::format("NO RESPONSE for {}; trying again every {}; these figures are old; cause: {}",
                    age_text(static_cast<std::int64_t>(seconds)), display.interval,
                    shown(watch.loss()->why, display.charset));
    constexpr std::size_t most_lines = 4;
    for (std::string& part : wrapped(text, display.columns, display.charset))
      if (lines.size() < most_lines) lines.emplace_back(std::move(part), Style::bad);
  }
  if (watch.restarted_at() && display.now - *watch.restarted_at() < restart_shown_seconds)
    lines.emplace_back("RESTARTED: counters start again from 0", Style::warning);
  if (view.paused) lines.emplace_back("PAUSED: press p to continue", Style::warning);
  return lines;
}

}  // namespace

std::string reload_text(const Status& status, bool& bad) {
  if (!status.reload) return "none since the start";
  const std::string ago = age_text(status.started + status.uptime - status.reload->unix_time) + " ago";
  if (status.reload->succeeded) return "succeeded " + ago;
  bad = true;
  std::string text = "FAILED " + ago + ", old configuration kept";
  const auto& errors = status.reload->errors;
  if (errors.empty()) return text;
  text += ": " + errors.front();
  if (errors.size() > 1) text += fmt::format(" (and {} more: press u)", errors.size() - 1);
  return text;
}

std::vector<Line> head_lines(const Watch& watch, const View& view, const Display& display) {
  std::vector<Line> notice_lines = notices(watch, view, display);
  if (watch.empty()) {
    std::vector<Line> lines = flowed(identity(watch, display), display);
    append(lines, std::move(notice_lines));
    return lines;
  }
  const Status& status = watch.status();
  if (display.rows < roomy) {
    std::vector<Line> lines{fitting(identity(watch, display), display)};
    append(lines, short_head(status, std::move(notice_lines), display));
    return lines;
  }
  std::vector<Line> lines = flowed(identity(watch, display), display);
  std::vector<Line> tunnel_lines;
  if (has_tunnels(status)) tunnel_lines = flowed(tunnels(status), display);
  std::vector<Line> config_lines = flowed(configuration(status), display);
  std::vector<Line> pool_lines = flowed(pools(status), display);
  // Omits the lines about the configuration and the pools if the head would fill more than a third of the
  // terminal, so that there is room for the routes. The upstreams page also has these lines.
  const std::size_t most = display.rows / 3;
  const bool failed = status.reload && !status.reload->succeeded;
  const auto size = [&] {
    return lines.size() + tunnel_lines.size() + config_lines.size() + pool_lines.size() + notice_lines.size();
  };
  if (size() > most && !failed) config_lines.clear();
  if (size() > most) pool_lines.clear();
  append(lines, std::move(config_lines));
  append(lines, std::move(pool_lines));
  append(lines, std::move(tunnel_lines));
  append(lines, std::move(notice_lines));
  lines.emplace_back();
  return lines;
}

}  // namespace reprise::tools
