#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {
namespace {

struct EnvArguments {
  std::string file;
  std::string format = "sh";
  bool unset = false;
};

/// Returns the address at which clients on this host reach the listener: the loopback address if it is bound
/// to all addresses.
std::string address_for_clients(const config::Listener& listener) {
  if (listener.bind.address == "0.0.0.0") return "127.0.0.1";
  return listener.bind.address == "::" ? "::1" : listener.bind.address;
}

int print_removal(const std::string& format, const config::Listener& listener,
                  const std::optional<tools::TrustFiles>& trust) {
  const tools::Restored restored =
      tools::restored_environment(address_for_clients(listener), listener.bind.port, variable_now, trust);
  std::fputs(tools::restoring_text(format, restored).c_str(), stdout);
  return exit_ok;
}

int env(const EnvArguments& given) {
  const config::Loaded loaded = load_configuration(given.file);
  if (!loaded.settings) return exit_bad_configuration;
  const config::Listener* const listener = first_forward(*loaded.settings);
  if (listener == nullptr || listener->bind.port == 0) {
    std::fprintf(stderr, "reprise env: %s\n",
                 listener == nullptr
                     ? "no listener has mode forward: clients of a gateway need its base URL, not variables"
                     : "the forward listener uses any free port (port 0): configure a fixed port, or use "
                       "reprise exec");
    return exit_usage;
  }
  if (given.unset) return print_removal(given.format, *listener, trust_files(*loaded.settings));
  const tools::Variables variables = tools::client_environment(
      address_for_clients(*listener), listener->bind.port, variable_now, trust_files(*loaded.settings));
  std::fputs(tools::written_as(given.format, variables).c_str(), stdout);
  return exit_ok;
}

}  // namespace

void add_env(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("env", "print the environment variables that a client of the proxy needs");
  const auto given = std::make_shared<EnvArguments>();
  command->add_option("-c,--config,config", given->file,
                      "configuration file (default: the built-in defaults)");
  const auto formats = tools::environment_formats();
  command->add_option("--format", given->format, "sh, fish, dotenv, systemd or kubernetes")
      ->check(CLI::IsMember(std::vector<std::string>(formats.begin(), formats.end())));
  command->add_flag("--unset", given->unset,
                    "print the lines that remove the variables again, in the same format");
  command->footer("eval \"$(reprise env -c reprise.yaml)\"");
  command->callback([given, &code] { code = env(*given); });
}

}  // namespace reprise::cli
