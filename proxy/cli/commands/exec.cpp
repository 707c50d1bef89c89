#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "config/intercept.hpp"
#include "config/keys/keys.hpp"
#include "config/keys/parent.hpp"
#include "config/keys/proxy_variables.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/exec/child_process.hpp"
#include "proxy/cli/exec/exec_tally.hpp"
#include "proxy/cli/exec/private_folder.hpp"
#include "proxy/cli/startup/callers_trust.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/shortcut_options.hpp"
#include "proxy/forward/session/listen.hpp"
#include "proxy/forward/session/port_holder.hpp"
#include "proxy/server/admin/control_path.hpp"
#include "proxy/server/admin/control_socket.hpp"
#include "proxy/server/intercept/secret_memory.hpp"
#include "proxy/server/process/proxy.hpp"

namespace reprise::cli {
namespace {

// Exit codes of a shell for a command that does not exist or cannot be executed.
constexpr int exit_not_found = 127;
constexpr int exit_not_executable = 126;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct ExecArguments {
  std::string file;
  std::string report;
  std::string log = "/dev/null";
  std::vector<std::string> intercept;
  bool quiet = false;
  bool no_java = false;
  std::shared_ptr<config::Flags> flags = std::make_shared<config::Flags>();
};

/// Returns the value that a flag or an environment variable gave to the key at `path`. Null if the key got no
/// such value, or if another source overrides the value.
const config::GivenValue* given_for(const config::Loaded& loaded, std::string_view path) {
  const auto found =
      std::find_if(loaded.given.begin(), loaded.given.end(),
                   [&](const config::GivenValue& value) { return value.used && value.path == path; });
  return found == loaded.given.end() ? nullptr : &*found;
}

/// Returns true if the value came from an environment variable and another process already listens at the
/// address in this value. The user probably set such a variable for commands that query that other process.
bool belongs_to_other_proxy(const config::GivenValue& value, bool is_taken) {
  return is_taken && value.source.starts_with(config::variable_prefix);
}

/// Returns the admin listener and the control socket for this proxy. Uses only values from flags and
/// environment variables, because the addresses in the configuration file may belong to another proxy.
config::Admin admin_for_child(const config::Loaded& loaded, std::vector<std::string>& warnings) {
  const config::Admin& wanted = loaded.settings->admin;
  config::Admin admin;
  admin.bind.port = 0;
  const auto leave = [&](const config::GivenValue& value) {
    warnings.push_back(value.source + "=" + value.text +
                       " is ignored: another process already uses that address");
  };
  if (const auto* const value = given_for(loaded, "admin.bind"); value != nullptr) {
    const bool is_taken =
        !wanted.bind.is_off() && wanted.bind.port != 0 &&
        !forward::holder_of({asio::ip::make_address(wanted.bind.address), wanted.bind.port}).empty();
    belongs_to_other_proxy(*value, is_taken) ? leave(*value) : static_cast<void>(admin.bind = wanted.bind);
  }
  if (const auto* const value = given_for(loaded, "admin.control"); value != nullptr && wanted.control) {
    const bool is_taken = server::try_control(*wanted.control) == 0;
    belongs_to_other_proxy(*value, is_taken) ? leave(*value)
                                             : static_cast<void>(admin.control = wanted.control);
  }
  return admin;
}

/// Returns the settings of a proxy that serves only the child process. The proxy has one forward listener, on
/// a free loopback port. The proxy stops without waiting, because the child has ended by then.
config::Settings for_child(const config::Loaded& loaded, std::vector<std::string>& warnings) {
  config::Settings settings = *loaded.settings;
  std::erase_if(settings.listeners, [](const config::Listener& listener) {
    return listener.mode == config::ListenerMode::forward;
  });
  settings.listeners.insert(settings.listeners.begin(), config::Listener{});
  settings.listeners.front().bind.port = 0;
  settings.admin = admin_for_child(loaded, warnings);
  settings.shutdown = {policy::Duration::zero(), policy::Duration::zero()};
  return settings;
}

/// Creates a certificate authority that exists only while the command runs. The key of the authority is not
/// written to a file. Throws std::runtime_error.
std::shared_ptr<const server::Authority> own_authority(const std::vector<policy::HostPattern>& hosts) {
  server::reserve_secret_memory();
  server::PrivateKey key = server::Authority::make_key();
  server::Certificate certificate = server::Authority::certify(key.get(), hosts, wall_seconds());
  return std::make_shared<const server::Authority>(std::move(certificate), std::move(key));
}

/// Adds the hosts of the command line to the intercepted hosts of the configuration. Returns false, and
/// prints why, if a host is malformed.
bool add_hosts(const std::vector<std::string>& wanted, config::Settings& settings) {
  if (!settings.intercept) settings.intercept.emplace();
  for (const std::string& text : wanted) {
    auto host = config::parse_intercepted(text);
    if (!host) {
      std::fprintf(stderr, "reprise exec: --intercept %s %s%s\n", text.c_str(), host.reason.c_str(),
                   config::did_you_mean(host.suggestion).c_str());
      return false;
    }
    settings.intercept->hosts.push_back(std::move(*host.value));
  }
  return true;
}

/// Sets the parent proxy from the variables http_proxy and similar, unless a parent proxy is configured.
/// Returns false, and prints why, if the variables are invalid.
bool follow_caller(config::Loaded& loaded) {
  config::Settings& settings = *loaded.settings;
  if (settings.parent || given_for(loaded, "parent") != nullptr) return true;
  config::NamedParent named = config::parent_of_variables(variable_now);
  if (!named.problem.empty()) std::fprintf(stderr, "reprise exec: %s\n", named.problem.c_str());
  settings.parent = std::move(named.parent);
  return named.problem.empty();
}

/// Returns the summary line. Names the parent proxy if there is one.
std::string summary(const ExecTally& tally, const std::optional<config::Parent>& parent) {
  if (!parent) return tally.line();
  return tally.line() + " (through the parent proxy " + config::parent_text(*parent) + ")";
}

/// A proxy that runs on its own thread and is stopped by its destructor.
class RunningProxy {
 public:
  RunningProxy(config::Settings settings, server::ProxyOptions options)
      : proxy_(std::move(settings), std::move(options)), thread_([this] { proxy_.run(); }) {}
  ~RunningProxy() { proxy_.stop(); }
  RunningProxy(const RunningProxy&) = delete;
  RunningProxy& operator=(const RunningProxy&) = delete;

  unsigned port() const { return proxy_.endpoints().front().port(); }

 private:
  server::Proxy proxy_;
  std::jthread thread_;
};

int run_child(const ExecArguments& given, config::Loaded& loaded, int log, ChildProcess& child,
              const std::string& program, ExecTally& tally) {
  server::ProxyOptions options = proxy_options(loaded, given.file);
  options.log_descriptor = log;
  options.handle_signals = false;
  options.observer = [&tally](const telemetry::ExchangeRecord& record) { tally.count(record); };
  config::Settings settings = for_child(loaded, options.warnings);
  std::optional<PrivateFolder> folder;
  const tools::Variables named = tools::named_trust(variable_now);
  if (settings.intercept || !named.empty()) folder.emplace(variable_now);
  if (!named.empty()) {
    for (std::string& warning : trust_as_caller(named, folder->path()))
      options.warnings.push_back(std::move(warning));
  }
  if (!given.intercept.empty()) {
    settings.intercept->bundle = folder->path() + "/bundle.pem";
    options.authority = own_authority(settings.intercept->hosts);
  }
  auto trust = trust_files(settings);
  if (trust && folder) trust->php_folder = make_php_folder(folder->path(), trust->bundle);
  RunningProxy proxy(std::move(settings), std::move(options));
  tools::Variables variables = tools::client_environment("127.0.0.1", proxy.port(), variable_now, trust);
  if (given.no_java)
    std::erase_if(variables, [](const auto& variable) { return variable.first == "JAVA_TOOL_OPTIONS"; });
  const int why = child.start(variables);
  if (why == 0) return child.wait();
  print_on_stderr(config::LogLevel::error,
                  "reprise exec: " + program + " cannot be run: " + std::generic_category().message(why));
  return why == ENOENT ? exit_not_found : exit_not_executable;
}

int exec(const ExecArguments& given, const std::vector<std::string>& words) {
  config::Loaded loaded = read_configuration(given.file, *given.flags);
  if (!loaded.settings) {
    print_problems(loaded, given.file);
    return exit_code_of(loaded.problems);
  }
  if (!given.intercept.empty() && !add_hosts(given.intercept, *loaded.settings)) return exit_usage;
  if (!follow_caller(loaded)) return exit_usage;
  const int log = ::open(given.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  // The log and the report are opened with close-on-exec, so that the command does not inherit them.
  const std::unique_ptr<std::FILE, CloseFile> report(
      given.report.empty() ? nullptr : std::fopen(given.report.c_str(), "we"));
  if (log < 0 || (!given.report.empty() && report == nullptr)) {
    std::fprintf(stderr, "reprise exec: %s cannot be written: name a file in an existing folder\n",
                 (log < 0 ? given.log : given.report).c_str());
    return exit_usage;
  }
  ExecTally tally;
  int code = exit_runtime;
  try {
    ChildProcess child(words);
    prepare_process(loaded.settings->limits);
    code = run_child(given, loaded, log, child, words.front(), tally);
  } catch (const net::TlsSettingsError& error) {
    return print_file_errors(loaded, given.file, error.what());
  } catch (const server::InterceptError& error) {
    return print_file_errors(loaded, given.file, error.what());
  } catch (const forward::BindError& error) {
    print_on_stderr(config::LogLevel::error, std::string("reprise exec: ") + error.what());
    return exit_cannot_bind;
  } catch (const server::ControlError& error) {
    std::fprintf(stderr, "reprise exec: %s\n", error.what());
    return exit_cannot_bind;
  }
  ::close(log);
  if (report != nullptr &&
      (std::fprintf(report.get(), "%s\n", tally.json(code).c_str()) < 0 || std::fflush(report.get()) != 0))
    std::fprintf(stderr, "reprise exec: %s cannot be written\n", given.report.c_str());
  const bool ran = code != exit_not_found && code != exit_not_executable;
  if (!given.quiet && ran)
    std::fprintf(stderr, "reprise: %s\n", summary(tally, loaded.settings->parent).c_str());
  const std::string tunnels = tally.tunnel_line();
  if (!given.quiet && ran && !tunnels.empty()) std::fprintf(stderr, "reprise: %s\n", tunnels.c_str());
  return code;
}

}  // namespace

void add_exec(CLI::App& app, int& code, const std::vector<std::string>& words) {
  CLI::App* command =
      app.add_subcommand("exec", "run a command with its own proxy: exec [options] -- command args");
  const auto given = std::make_shared<ExecArguments>();
  command->add_option("-c,--config", given->file,
                      "configuration file; its forward listeners, admin.bind and admin.control are not used");
  command
      ->add_option("--intercept", given->intercept,
                   "HOST or *.SUFFIX whose HTTPS requests are retried too: the command trusts a temporary "
                   "certificate authority; repeatable")
      ->allow_extra_args(false);
  command->add_option("--report", given->report, "write the summary to this file, as JSON");
  command->add_option("--log", given->log, "append the log to this file, as JSON");
  command->add_flag(
      "--no-java", given->no_java,
      "leave JAVA_TOOL_OPTIONS unchanged: if it is set, Java prints \"Picked up JAVA_TOOL_OPTIONS\"");
  add_shortcuts(*command, ShortcutsOf::child, given->flags);
  command->add_flag("--quiet", given->quiet, "print no summary on standard error");
  command->footer("reprise exec --intercept api.example.com -- curl https://api.example.com/v1/x");
  command->callback([given, &words, &code] {
    if (words.empty()) {
      std::fputs("reprise exec: a command is missing: write reprise exec [options] -- command args\n",
                 stderr);
      code = exit_usage;
    } else {
      code = exec(*given, words);
    }
  });
}

}  // namespace reprise::cli
