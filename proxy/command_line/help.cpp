#include <cstdio>
#include <string>

#include "proxy/command_line/about_itself.hpp"
#include "proxy/command_line/exit_codes.hpp"
#include "proxy/command_line/usage.hpp"

namespace reprise::cli {

void add_help(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("help", "say what there is, or how a command is used");
  const CLI::Option* wanted = command->add_option("command", "one of the commands");
  command->footer("reprise help exec");
  command->callback([&app, wanted, &code] {
    if (wanted->count() == 0) {
      // help() would be that of the command that was parsed: this one.
      std::fputs(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str(),
                 stdout);
      return;
    }
    const auto name = wanted->as<std::string>();
    if (const CLI::App* found = find_command(app, name)) {
      std::fputs(found->help("reprise").c_str(), stdout);
    } else {
      std::fprintf(stderr, "reprise: %s\n", unknown_command(app, name).c_str());
      code = exit_usage;
    }
  });
}

}  // namespace reprise::cli
