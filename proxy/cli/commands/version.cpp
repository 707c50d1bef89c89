#include <cstdio>

#include "proxy/cli/commands/commands.hpp"

namespace reprise::cli {

void add_version(CLI::App& app, int&) {
  app.set_version_flag("--version", "reprise " REPRISE_VERSION);
  CLI::App* command = app.add_subcommand("version", "print the version");
  command->footer("reprise version");
  command->callback([] { std::puts("reprise " REPRISE_VERSION); });
}

}  // namespace reprise::cli
