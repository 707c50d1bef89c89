#include "proxy/server/process/control_commands.hpp"

#include <optional>

#include "config/keys/scalar.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/enumerators.hpp"

namespace reprise::server {
namespace {

constexpr std::string_view known_commands =
    "reload, drain [undo], quit, status [json], config, story ID, log level error|warn|info|debug, pause "
    "HOST:PORT DURATION";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : "\n").append(word);
  return text;
}

// Returns the length of a pause: a duration, or a whole number of seconds. Returns nothing if the text is
// malformed or the length is not allowed.
std::optional<policy::Duration> pause_of(std::string_view text) {
  const bool has_unit = !config::parse_whole(text);
  const auto length = config::parse_duration(has_unit ? std::string(text) : std::string(text) + "s");
  const bool fits =
      length && *length.value >= std::chrono::seconds(1) && *length.value <= std::chrono::hours(24);
  return fits ? length.value : std::nullopt;
}

}  // namespace

ControlResponse ControlCommands::set_log_level(std::string_view level) {
  const auto& words = policy::names_of<config::LogLevel>;
  const auto found = std::find(words.begin(), words.end(), level);
  if (found == words.end()) return {false, "a log level is one of error, warn, info, debug"};
  config::Log settings = runtime_.log.settings();
  settings.level = static_cast<config::LogLevel>(found - words.begin());
  runtime_.log.set(settings);
  return {true, "log level " + std::string(level) + ", until the next reload"};
}

ControlResponse ControlCommands::pause(std::string_view host, std::string_view how_long) {
  const std::optional<policy::Duration> length = pause_of(how_long);
  if (!length)
    return {false, "not a valid pause: write a duration from 1s to 24h, such as 30s or 5m; 30 means 30s"};
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == host.size())
    return {false, "name the upstream as HOST:PORT, as in the labels of the metrics"};
  const std::string account =
      policy::lower(policy::without_last_dot(host.substr(0, colon))).append(host.substr(colon));
  runtime_.host_guards.pause(account)->ask(net::Tick::now() + *length);
  // Uses one snapshot throughout, because a reload may replace the current one meanwhile.
  const std::shared_ptr<const policy::RouteTable> routes = config_.now().snapshot->settings.routes;
  bool obeyed = false;
  for (std::size_t i = 0; i < routes->size(); ++i)
    obeyed = obeyed || (*routes)[i].policy.while_paused != policy::WhilePaused::go;
  std::string text = account + " is paused for " + config::duration_text(*length);
  if (!obeyed) text += "; this has no effect, because host_pause is off on every route";
  runtime_.log_message(config::LogLevel::info, text);
  return {true, std::move(text)};
}

ControlSocket::Commands ControlCommands::commands() {
  return [this](const std::vector<std::string>& words, const ControlSocket::Respond& respond) {
    const std::string command = joined(words);
    if (command == "status") return respond({true, views_.status_words()});
    if (command == "status\njson") return respond({true, views_.status()});
    if (command == "reload")
      return config_.ask_to_reload([respond](const ReloadReport& report) {
        std::string text = joined(report.words);
        if (report.succeeded) text = "reloaded, hash " + report.hash + (text.empty() ? "" : "\n" + text);
        respond({report.succeeded, std::move(text)});
      });
    if (command == "drain") {
      lifecycle_.drain();
      return respond(
          {true, "draining: /readyz returns 503, and each connection closes after its current response"});
    }
    if (command == "drain\nundo") {
      if (runtime_.phase.stopping)
        return respond({false, "reprise is shutting down, which cannot be undone"});
      const bool was = runtime_.phase.leaving;
      lifecycle_.undo_drain();
      return respond({true, was ? "ready again: /readyz returns 200, and connections stay open"
                                : "reprise was not draining: nothing has changed"});
    }
    if (command == "config") return respond({true, views_.effective_configuration()});
    if (command == "quit")
      return respond({true, "shutting down: open requests may finish within shutdown.grace",
                      [this] { lifecycle_.stop(); }});
    if (words.size() == 2 && words[0] == "story") {
      auto history_text = views_.history(words[1], HistoryForm::text);
      if (!history_text)
        return respond({false, "no such request: the id is unknown, or newer requests have replaced it"});
      return respond({true, std::move(*history_text)});
    }
    if (words.size() == 3 && words[0] == "log" && words[1] == "level")
      return respond(set_log_level(words[2]));
    if (words.size() == 3 && words[0] == "pause") return respond(pause(words[1], words[2]));
    respond({false, "unknown command; the commands are: " + std::string(known_commands)});
  };
}

}  // namespace reprise::server
