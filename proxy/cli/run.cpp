#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "proxy/cli/commands.hpp"
#include "proxy/cli/configuration.hpp"
#include "proxy/io/descriptors.hpp"
#include "proxy/server/listen.hpp"
#include "proxy/server/proxy.hpp"
#include "proxy/tls/tls_client.hpp"

namespace reprise::cli {
namespace {

int run(const std::string& file) {
  std::signal(SIGHUP, SIG_IGN);  // until the proxy listens to it
  const config::Loaded loaded = load_configuration(file);
  if (!loaded.settings) return exit_bad_configuration;
  // A client or a log reader that leaves is an error code, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond RLIMIT_FSIZE is an error of write(), as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  const config::Limits& limits = loaded.settings->limits;
  net::raise_descriptor_limit(limits.connections, limits.admin_connections);
  net::ProxyOptions options;
  options.version = REPRISE_VERSION;
  options.config_file = file;
  options.config_hash = loaded.hash;
  options.log_to_terminal = ::isatty(STDERR_FILENO) == 1;
  try {
    net::Proxy proxy(*loaded.settings, std::move(options));
    proxy.run();
  } catch (const net::TlsSettingsError& error) {
    return tell_tls_error(file, error);
  } catch (const net::BindError& error) {
    std::fprintf(stderr, "reprise: %s\n", error.what());
    return exit_cannot_bind;
  }
  return exit_ok;
}

}  // namespace

void add_run(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("run", "run the proxy until SIGTERM");
  const CLI::Option* file =
      command->add_option("-c,--config,config", "configuration file; without it the built-in defaults");
  command->callback([file, &code] { code = run(given_file(file)); });
}

}  // namespace reprise::cli
