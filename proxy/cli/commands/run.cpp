#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/listener_arguments.hpp"
#include "proxy/cli/startup/shortcut_options.hpp"
#include "proxy/forward/session/listen.hpp"
#include "proxy/net/systemd/journal.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/server/admin/control_socket.hpp"
#include "proxy/server/process/proxy.hpp"
#include "proxy/server/process/signals.hpp"

namespace reprise::cli {
namespace {

struct RunArguments {
  std::string file;
  ListenerArguments listeners;
  std::shared_ptr<config::Flags> flags = std::make_shared<config::Flags>();
};

// Reads the variables that the service manager has set. Then removes them from the environment, so that child
// processes do not use them.
void read_service_variables(server::ProxyOptions& options) {
  const auto pid = static_cast<std::uint64_t>(::getpid());
  options.notify = net::NotifySocket(variable_now("NOTIFY_SOCKET").value_or(""));
  options.watchdog = net::watchdog_interval(variable_now, pid);
  net::InheritedSockets passed = net::inherited_sockets(variable_now, pid);
  options.inherited = std::move(passed.sockets);
  for (std::string& fault : passed.faults) options.warnings.push_back(std::move(fault));
  for (const char* name :
       {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"})
    ::unsetenv(name);
}

int serve(config::Loaded loaded, const RunArguments& given, std::vector<server::WatchedFile> watched) {
  const std::string& file = given.file;
  server::hold_signals();
  prepare_process(loaded.settings->limits);
  config::OtelVariables otel = config::otel_variables(variable_now);
  for (std::string& warning : follow_otel(otel, loaded)) otel.warnings.push_back(std::move(warning));
  server::ProxyOptions options = proxy_options(loaded, file);
  if (::isatty(STDERR_FILENO) == 1) options.log_reader = telemetry::LogReader::terminal;
  if (net::is_journal_stream(variable_now, STDERR_FILENO)) options.log_reader = telemetry::LogReader::journal;
  options.resource = otel.resource;
  for (const std::string& warning : otel.warnings) options.warnings.push_back(warning);
  read_service_variables(options);
  try {
    if (!watched.empty()) {
      options.reload = [file, flags = *given.flags, otel, limits = options.limits] {
        return read_again(file, flags, limits, otel);
      };
      options.watched_files = std::move(watched);
    }
    server::Proxy proxy(*loaded.settings, std::move(options));
    proxy.run();
  } catch (const net::TlsSettingsError& error) {
    return print_file_errors(loaded, file, error.what());
  } catch (const server::InterceptError& error) {
    return print_file_errors(loaded, file, error.what());
  } catch (const forward::BindError& error) {
    print_on_stderr(config::LogLevel::error, std::string("reprise: ") + error.what());
    return exit_cannot_bind;
  } catch (const server::ControlError& error) {
    print_on_stderr(config::LogLevel::error, std::string("reprise: ") + error.what());
    return exit_cannot_bind;
  }
  return exit_ok;
}

int run(const RunArguments& given) {
  if (!given.listeners.empty()) {
    FromArguments made = configuration_of(given.listeners, *given.flags);
    for (const std::string& fault : made.faults)
      print_on_stderr(config::LogLevel::error, "reprise run: " + fault);
    return made.faults.empty() ? serve(std::move(made.loaded), given, {}) : made.code;
  }
  const bool is_file = !given.file.empty() && !is_standard_input(given.file);
  std::vector<server::WatchedFile> watched;
  config::Loaded loaded = is_file ? read_for_watch(given.file, *given.flags, watched)
                                  : read_configuration(given.file, *given.flags);
  if (loaded.settings) return serve(std::move(loaded), given, std::move(watched));
  print_problems(loaded, given.file);
  return exit_code_of(loaded.problems);
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("run", "run the proxy until SIGTERM");
  const auto given = std::make_shared<RunArguments>();
  CLI::Option* file = command->add_option("-c,--config,config", given->file,
                                          "configuration file (default: the built-in defaults)");
  command
      ->add_option("--forward", given->listeners.forwards,
                   "PORT: listen as an HTTP proxy on 127.0.0.1:PORT; repeatable, not together with -c")
      ->allow_extra_args(false)
      ->excludes(file);
  command
      ->add_option("--gateway", given->listeners.gateways,
                   "PORT=URL: forward requests that arrive at 127.0.0.1:PORT to the URL; repeatable, not "
                   "together with -c")
      ->allow_extra_args(false)
      ->excludes(file);
  add_shortcuts(*command, ShortcutsOf::process, given->flags);
  command->footer("reprise run --gateway 3180=https://api.example.com");
  command->callback([given, &code] { code = run(*given); });
}

}  // namespace reprise::cli
