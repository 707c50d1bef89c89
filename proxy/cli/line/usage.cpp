#include "proxy/cli/line/usage.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "config/keys/keys.hpp"

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

/// Names of an option in other programs, and the option of reprise with the same meaning.
struct OptionSynonym {
  std::string_view words;
  std::string_view option;
};
constexpr auto option_synonyms = std::to_array<OptionSynonym>({
    {"-H --headers", "--header"},
    {"-d --data --data-raw --data-binary", "--body"},
    {"-p --port --listen --bind --listen-address", "--forward"},
    {"--upstream --backend --target --reverse", "--gateway"},
    {"--retries --retry --max-retries --tries --attempts", "--max-attempts"},
    {"--timeout --max-time --retry-timeout", "--deadline"},
    {"--per-try-timeout --request-timeout", "--attempt-timeout"},
    {"--proxy --upstream-proxy -x", "--parent"},
    {"--metrics --metrics-port --admin-port --stats", "--admin"},
    {"--socket", "--control"},
    {"--verbose --debug -v", "--log-level"},
    {"--json -o --output", "--format"},
    {"--config-file --config-path --conf -f", "--config"},
    {"-q --silent", "--quiet"},
    {"--mitm --tls-intercept", "--intercept"},
    {"--werror --fail-on-warnings --fatal-warnings", "--strict"},
    {"--revert --cancel", "--undo"},
});

/// Returns the option that was probably meant by the unknown option `word`. Empty if no option is similar.
std::string meant_option(const CLI::App& command, std::string_view word) {
  for (const OptionSynonym& known : option_synonyms) {
    const auto words = config::split_words(known.words);
    const bool is_it = std::find(words.begin(), words.end(), word.substr(0, word.find('='))) != words.end();
    if (is_it && command.get_option_no_throw(std::string(known.option)) != nullptr)
      return std::string(known.option);
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // an old name, which is not suggested
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return std::string(config::nearest(word.substr(0, word.find('=')), candidates));
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "\"" : ", \"").append(word).append("\"");
  return text;
}

/// Names of a command in other programs, and the command of reprise with the same meaning.
struct CommandSynonym {
  std::string_view words;
  std::string_view command;
};
constexpr auto command_synonyms = std::to_array<CommandSynonym>({
    {"start serve server proxy up daemon listen", "run"},
    {"validate lint test verify configtest config-test", "check"},
    {"stop shutdown kill terminate", "quit"},
    {"restart refresh hup", "reload"},
    {"stats metrics monitor watch dashboard", "top"},
    {"info health ping", "status"},
    {"why trace dry-run plan", "explain"},
    {"wrap with", "exec"},
    {"init cert certs certificate", "ca init"},
    {"create make new generate", "init"},
    {"error warn warning info debug", "level"},
    {"sim bench", "simulate"},
    {"schema reference show presets preset", "config"},
    {"docs usage", "help"},
    {"sidecar k8s kubernetes", "inject"},
});

/// Returns the command that was probably meant by the unknown word. Empty if no command is similar.
std::string meant_command(const CLI::App& command, std::string_view word) {
  for (const CommandSynonym& known : command_synonyms) {
    const auto words = config::split_words(known.words);
    const bool is_here = find_command(command, known.command.substr(0, known.command.find(' '))) != nullptr;
    if (is_here && std::find(words.begin(), words.end(), word) != words.end())
      return std::string(known.command);
  }
  return std::string(config::nearest(word, names_of_commands(command)));
}

/// Returns the message for `exec curl URL`, which lacks the `--` before the command.
std::string command_without_dashes(const CLI::App& app) {
  std::string words;
  for (const std::string& word : app.remaining(true)) words.append(" ").append(word);
  return "write -- before the command: reprise exec [options] --" + words;
}

/// Returns the message for arguments that no command accepts. Lists these arguments in the order of the
/// command line.
std::string message_for_extras(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> extras = app.remaining(true);
  if (&app == &command) {
    // Programs without commands, such as nginx and Envoy, accept options without a command. If the arguments
    // start with such an option, suggests a command of reprise.
    std::string all;
    for (const std::string& extra : extras) all.append(" ").append(extra);
    const std::string& first = extras.front();
    if (first == "-t" || first == "--test" || first == "--validate")
      return "a command is missing (did you mean check -c FILE?)";
    if (first == "-v" || first == "-V")
      return quoted_list(extras) + " is not understood (did you mean --version?)";
    const CLI::App* const run = find_command(app, "run");
    const bool is_of_run =
        run != nullptr && run->get_option_no_throw(first.substr(0, first.find('='))) != nullptr;
    if (is_of_run) return "a command is missing (did you mean run" + all + "?)";
  }
  std::string text = quoted_list(extras) + (extras.size() == 1 ? " is" : " are") + " not understood";
  for (const std::string& extra : extras) {
    const std::string meant =
        extra.starts_with("-") ? meant_option(command, extra) : meant_command(command, extra);
    if (meant.empty()) continue;
    text.append(" (did you mean ").append(meant).append("?)");
    break;
  }
  return text;
}

/// Values of an option in other programs, and the value of reprise with the same meaning.
constexpr auto value_synonyms = std::to_array<OptionSynonym>({
    {"bash zsh posix", "sh"},
    {"docker compose env", "dotenv"},
    {"unit service", "systemd"},
    {"k8s yaml", "kubernetes"},
    {"warning", "warn"},
    {"trace verbose", "debug"},
    {"fatal critical", "error"},
    {"nftables", "nft"},
    {"md", "markdown"},
    {"plain human", "text"},
});

/// Returns the message for a wrong option value. `what` is CLI11's message, such as `--format: docker not in
/// {sh,fish}`.
std::string message_for_value(const std::string& what) {
  const std::size_t colon = what.find(": ");
  const std::size_t no = what.rfind(" not in {");
  if (colon == std::string::npos || no == std::string::npos || no < colon) return what;
  const std::string value = what.substr(colon + 2, no - colon - 2);
  std::vector<std::string> choices;
  std::string_view rest = std::string_view(what).substr(no + std::string_view(" not in {").size());
  for (rest = rest.substr(0, rest.find('}')); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    choices.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  const std::vector<std::string_view> candidates(choices.begin(), choices.end());
  std::string meant(config::nearest(value, candidates));
  for (const OptionSynonym& known : value_synonyms) {
    const auto words = config::split_words(known.words);
    const bool is_it = std::find(words.begin(), words.end(), value) != words.end() &&
                       std::find(choices.begin(), choices.end(), known.option) != choices.end();
    if (is_it) meant = known.option;
  }
  return "\"" + value + "\" is not a valid value for " + what.substr(0, colon) + ": write " +
         config::either(candidates) + config::did_you_mean(meant);
}

std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of(" :")));
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
  std::string meant = meant_command(app, word);
  if (word.ends_with(".yaml") || word.ends_with(".yml")) meant = "run " + std::string(word);
  if (!meant.empty()) text.append(" (did you mean ").append(meant).append("?)");
  text.append("; the commands are:");
  for (const std::string_view name : names_of_commands(app)) text.append(" ").append(name);
  return text;
}

std::string wrong_use(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* deepest = &app;
  std::string name;
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    name.append(" ").append(deepest->get_name());
  }
  const CLI::App& command = *deepest;
  std::string what = error.what();
  const std::vector<std::string> extras = app.remaining(true);
  if (name == " exec" && !extras.empty() && !extras.front().starts_with("-")) {
    what = command_without_dashes(app);
  } else if (!extras.empty()) {
    what = message_for_extras(app, command);
  } else if (name.empty()) {
    what = "a command is missing";
  } else if (!commands_of(command).empty()) {
    what = "a subcommand is missing; the subcommands are:";
    for (const std::string_view below : names_of_commands(command)) what.append(" ").append(below);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = first_word(what) + " is missing";
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    what = first_word(what) + " needs a value";
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::size_t equal = what.rfind(" = ");
    const std::size_t option = what.find("--");
    if (option < equal && equal != std::string::npos)
      what = "\"" + what.substr(equal + 3) + "\" is not a valid value for " +
             what.substr(option, equal - option);
  } else if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    what = message_for_value(what);
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    what = first_word(what) + " and " + what.substr(what.rfind(' ') + 1) + " cannot be combined";
  }
  return "reprise" + name + ": " + what + "; see reprise help" + name;
}

}  // namespace reprise::cli
