#include "proxy/cli/startup/running.hpp"

#include <chrono>
#include <utility>

#include "config/reference/running.hpp"
#include "proxy/server/admin/ask_control.hpp"

namespace reprise::cli {
namespace {

constexpr std::chrono::seconds response_timeout{5};

RunningConfiguration taken_from(const std::string& text, const std::string& where,
                                const config::Flags& flags) {
  RunningConfiguration made;
  const config::RunningText running = config::read_running(text);
  if (running.yaml.empty()) {
    made.fault = where + " does not report a configuration: it is not reprise, or it is an older version";
    return made;
  }
  made.loaded = config::load_text(running.yaml, nullptr, flags);
  made.file = running.file;
  made.words = "current settings of the proxy at " + where + " (";
  made.words.append(running.file.empty() ? "built-in defaults" : running.file);
  if (!running.hash.empty()) made.words.append(", hash ").append(running.hash);
  made.words.append(")");
  if (made.loaded.settings) config::place_routes(running, *made.loaded.settings);
  return made;
}

}  // namespace

RunningConfiguration ask_running(const server::AdminAddress& at, const config::Flags& flags) {
  const server::AdminResponse response = server::ask_admin(at, "/config", response_timeout);
  if (response.status == 200) return taken_from(response.body, server::authority_of(at), flags);
  if (response.status != 0) return taken_from({}, server::authority_of(at), flags);
  RunningConfiguration none;
  none.fault = response.body;
  return none;
}

RunningConfiguration ask_running(const std::string& control, const config::Flags& flags) {
  const server::ControlResponse response = server::ask_control(control, "config", response_timeout);
  if (response.succeeded) return taken_from(response.text, control, flags);
  RunningConfiguration none;
  none.fault = response.text;
  return none;
}

}  // namespace reprise::cli
