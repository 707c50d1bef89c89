// The commands that control a running proxy through its control socket.
#include <cstdio>
#include <memory>
#include <string>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/server/admin/ask_control.hpp"
#include "proxy/telemetry/log/json_document.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::cli {
namespace {

constexpr std::chrono::seconds control_timeout{10};
constexpr std::chrono::seconds wait_timeout{24 * 60 * 60};

struct ControlArguments {
  std::string file;
  std::string path;
  std::string word;      ///< level for `log`, upstream for `pause`
  std::string duration;  ///< length of a `pause`
  std::string format = "text";
  bool waits = false;
  bool undoes = false;
};

using Given = std::shared_ptr<ControlArguments>;

// Returns the path of the control socket. If the path is not known, prints why, sets the exit `code`, and
// returns an empty path.
std::string path_of(const ControlArguments& given, int& code) {
  if (!given.path.empty()) return given.path;
  if (given.file.empty()) {
    const std::string named = variable_now("REPRISE_CONTROL").value_or("");
    return named.empty() || named == "none" ? server::usual_control_path : named;
  }
  const config::Loaded loaded = load_configuration(given.file);
  code = exit_bad_configuration;
  if (!loaded.settings) {
    std::fprintf(stderr,
                 "the control socket is unknown, because the configuration file has errors: name the socket "
                 "with --control, such as %s\n",
                 server::usual_control_path);
    return {};
  }
  if (loaded.settings->admin.control) return *loaded.settings->admin.control;
  std::fprintf(stderr,
               "%s: error: admin.control: is not set: write admin: {control: %s}, and restart reprise\n",
               given.file.c_str(), server::usual_control_path);
  return {};
}

int send_command(const ControlArguments& given, const std::string& command) {
  int code = exit_ok;
  const std::string path = path_of(given, code);
  if (path.empty()) return code;
  const server::ControlResponse response =
      server::ask_control(path, command, given.waits ? wait_timeout : control_timeout);
  // Puts the response into a JSON object, unless the response itself is JSON (`status json`).
  if (given.format == "json" && !(response.succeeded && command == "status json")) {
    const json::object out{{"ok", response.succeeded}, {"message", response.text}};
    std::printf("%s\n", telemetry::document_text(out).c_str());
    return response.succeeded ? exit_ok : exit_runtime;
  }
  if (!response.succeeded) {
    print_on_stderr(config::LogLevel::error, telemetry::for_terminal(response.text));
    return exit_runtime;
  }
  // A response in JSON already ends with a newline.
  std::printf("%s%s", telemetry::for_terminal(response.text).c_str(),
              response.text.ends_with('\n') ? "" : "\n");
  return exit_ok;
}

Given add_common_options(CLI::App* command, const char* example) {
  auto given = std::make_shared<ControlArguments>();
  CLI::Option* path = command->add_option("--control", given->path,
                                          "control socket of the running proxy; variable REPRISE_CONTROL");
  command
      ->add_option("-c,--config", given->file,
                   "configuration file that names the control socket (admin.control)")
      ->excludes(path);
  command->add_option("--format", given->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->footer(example);
  return given;
}

// Adds a control command that has only the options that all control commands share.
void add_plain(CLI::App& app, int& code, const char* name, const char* sentence, const char* example) {
  CLI::App* command = app.add_subcommand(name, sentence);
  const Given given = add_common_options(command, example);
  command->callback([given, &code, name = std::string(name)] { code = send_command(*given, name); });
}

void add_reload(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("reload", "make a running proxy read its configuration again");
  const Given given = add_common_options(command, "reprise reload -c /etc/reprise/reprise.yaml");
  command->add_flag("--wait", given->waits, "wait for the outcome for up to a day instead of ten seconds");
  command->callback([given, &code] { code = send_command(*given, "reload"); });
}

void add_drain(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("drain",
                                         "make a running proxy report that it is not ready, and close each "
                                         "connection after its current response");
  const Given given = add_common_options(command, "reprise drain --control /run/reprise/control.sock");
  command->add_flag("--undo", given->undoes, "make the proxy ready again");
  command->callback([given, &code] { code = send_command(*given, given->undoes ? "drain undo" : "drain"); });
}

void add_status(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("status", "show the status of a running proxy");
  const Given given = add_common_options(command, "reprise status -c /etc/reprise/reprise.yaml");
  command->callback(
      [given, &code] { code = send_command(*given, given->format == "json" ? "status json" : "status"); });
}

void add_log(CLI::App& app, int& code) {
  CLI::App* log = app.add_subcommand("log", "change what a running proxy logs");
  log->require_subcommand(1);
  log->footer("reprise log level debug");
  CLI::App* level = log->add_subcommand("level", "set the log level until the next reload");
  const Given given =
      add_common_options(level, "reprise log level debug --control /run/reprise/control.sock");
  level->add_option("level", given->word, "error, warn, info or debug")
      ->required()
      ->check(CLI::IsMember({"error", "warn", "info", "debug"}));
  level->callback([given, &code] { code = send_command(*given, "log level " + given->word); });
}

void add_pause(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("pause", "pause requests to an upstream for a while, on routes with host_pause");
  const Given given = add_common_options(command, "reprise pause api.example.com:443 30s");
  command->add_option("upstream", given->word, "HOST:PORT")->required();
  command
      ->add_option("duration", given->duration,
                   "length of the pause, such as 30s or 5m, up to 24h; a number without a unit means seconds")
      ->required();
  command->callback(
      [given, &code] { code = send_command(*given, "pause " + given->word + " " + given->duration); });
}

}  // namespace

void add_control(CLI::App& app, int& code) {
  add_reload(app, code);
  add_status(app, code);
  add_drain(app, code);
  add_plain(app, code, "quit", "shut down a running proxy gracefully, as SIGTERM does",
            "reprise quit --control /run/reprise/control.sock");
  add_log(app, code);
  add_pause(app, code);
}

}  // namespace reprise::cli
