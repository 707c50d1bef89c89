#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/line/usage.hpp"

namespace reprise::cli {

void add_help(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("help", "list the commands, or show how to use one of them");
  const auto wanted = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *wanted, "command, such as ca init");
  command->footer("reprise help exec");
  command->callback([&app, wanted, &code] {
    if (wanted->empty()) {
      // CLI11's help() would print the help of the parsed command, which is the command `help`.
      std::fputs(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str(),
                 stdout);
      return;
    }
    const CLI::App* found = &app;
    std::string before = "reprise";
    for (const std::string& name : *wanted) {
      const CLI::App* below = find_command(*found, name);
      if (below == nullptr) {
        std::fprintf(stderr, "%s: %s\n", before.c_str(), unknown_command(*found, name).c_str());
        code = exit_usage;
        return;
      }
      if (found != &app) before.append(" ").append(found->get_name());
      found = below;
    }
    std::fputs(found->help(before).c_str(), stdout);
  });
}

}  // namespace reprise::cli
