#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "proxy/cli/commands.hpp"
#include "proxy/cli/configuration.hpp"
#include "proxy/intercept/secret_memory.hpp"
#include "proxy/replay/temporary_file.hpp"

namespace reprise::cli {
namespace {

/// Why no temporary file can be made where request bodies go; empty: one was.
std::string trouble_with_folder(const config::Limits& limits) {
  if (limits.replay_disk_bytes == 0) return {};
  const int descriptor = net::system_file_calls().open(limits.replay_folder);
  if (descriptor < 0)
    return "limits.replay_folder " + limits.replay_folder +
           " cannot be used: " + std::generic_category().message(errno);
  ::close(descriptor);
  return {};
}

int check(const std::string& file) {
  config::Loaded loaded = read_configuration(file);
  const std::vector<std::string> notes = fit_to(cgroup::read_limits(), loaded, file);
  print_problems(loaded, file);
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (!loaded.settings) {
    const auto errors = std::count_if(
        loaded.problems.begin(), loaded.problems.end(),
        [](const config::Problem& problem) { return problem.severity == config::Problem::Severity::error; });
    std::fprintf(stderr, "%s: %td %s\n", file.c_str(), errors, errors == 1 ? "error" : "errors");
    return exit_bad_configuration;
  }
  if (const auto trouble = trouble_with_folder(loaded.settings->limits); !trouble.empty()) {
    std::fprintf(stderr, "%s: error: %s\n", file.c_str(), trouble.c_str());
    return exit_bad_configuration;
  }
  try {
    const auto& parent = loaded.settings->parent;
    const net::TlsClients loads(*loaded.settings->routes, parent && parent->tls ? &*parent->tls : nullptr);
    if (loaded.settings->intercept) {
      net::reserve_secret_memory();
      net::load_authority(*loaded.settings->intercept, file, wall_seconds());
    }
  } catch (const net::TlsSettingsError& error) {
    return tell_tls_error(file, error);
  } catch (const net::InterceptError& error) {
    return tell_intercept_error(file, error);
  }
  std::printf("%s: good, %zu routes and the default\n", file.c_str(), loaded.settings->routes->size() - 1);
  return exit_ok;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("check", "say everything that is wrong with a configuration file");
  const CLI::Option* file =
      command->add_option("-c,--config,config", "configuration file; - for standard input")->required();
  command->footer("reprise check -c reprise.yaml");
  command->callback([file, &code] { code = check(given_file(file)); });
}

}  // namespace reprise::cli
