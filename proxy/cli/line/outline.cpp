#include "proxy/cli/line/outline.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace reprise::cli {
namespace {

// Returns the choices in the text with which CLI11 describes a set of valid values: "TEXT:{a,b}" or
// "ENUM:value in {...} OR {...}".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::string_view rest = std::string_view(type).substr(begin + 1, end - begin - 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    choices.emplace_back(one.substr(0, one.find("->")));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return choices;
}

// Options whose value is the name of a file.
constexpr auto files = std::to_array<std::string_view>(
    {"config", "report", "log", "control", "body", "response-body", "html", "svg", "model", "replay"});

OptionOutline outline_of(const CLI::Option& option) {
  OptionOutline made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    made.names.push_back("--" + name);
    const auto is_it = [&name](std::string_view file) { return name == file; };
    made.is_file = made.is_file || std::any_of(files.begin(), files.end(), is_it);
  }
  made.is_positional = made.names.empty();
  if (made.is_positional) made.names.push_back(option.get_name(true));
  made.description = option.get_description();
  made.takes_value = option.get_items_expected_max() > 0;
  made.choices = choices_in(option.get_type_name());
  return made;
}

void add_commands(const CLI::App& of, const std::string& before, std::vector<CommandOutline>& all) {
  for (const CLI::App* const command : of.get_subcommands([](const CLI::App*) { return true; })) {
    CommandOutline made{before + command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* const option : command->get_options())
      if (!option->get_group().empty()) made.options.push_back(outline_of(*option));
    all.push_back(std::move(made));
    add_commands(*command, before + command->get_name() + " ", all);
  }
}

}  // namespace

std::vector<CommandOutline> outline_of(const CLI::App& program) {
  std::vector<CommandOutline> all;
  add_commands(program, "", all);
  return all;
}

}  // namespace reprise::cli
