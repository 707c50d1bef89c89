#include <cstdio>
#include <string>
#include <vector>

#include "config/keys.hpp"
#include "proxy/cli/commands.hpp"

namespace reprise::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string_view> names_of_commands(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : commands_of(app)) names.emplace_back(command->get_name());
  return names;
}

}  // namespace

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::string unknown_command(const CLI::App& app, std::string_view word) {
  std::string text = "unknown command \"" + std::string(word) + "\"";
  const std::string_view meant = config::nearest(word, names_of_commands(app));
  if (!meant.empty()) text.append(" (did you mean ").append(meant).append("?)");
  text.append("; the commands are:");
  for (const std::string_view name : names_of_commands(app)) text.append(" ").append(name);
  return text;
}

void add_help(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("help", "say what there is, or how a command is used");
  const CLI::Option* wanted = command->add_option("command", "one of the commands");
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
