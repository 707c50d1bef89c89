#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/line/outline.hpp"

namespace reprise::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

/// Returns `text` in single quotes. Replaces every single quote in `text` with `quote`, and puts a backslash
/// before every character that is in `special`.
std::string quoted(std::string_view text, std::string_view special, std::string_view quote) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made.append(quote);
      continue;
    }
    if (special.find(c) != std::string_view::npos) made.push_back('\\');
    made.push_back(c);
  }
  return made + "'";
}

bool is_below(const CommandOutline& command) { return command.name.find(' ') != std::string::npos; }

/// Returns the names of the command's subcommands, without the name of the command itself.
std::vector<std::string> words_below(const std::vector<CommandOutline>& all, const CommandOutline& command) {
  std::vector<std::string> words;
  for (const CommandOutline& other : all) {
    if (other.name.starts_with(command.name + " "))
      words.push_back(other.name.substr(command.name.size() + 1));
  }
  return words;
}

/// Returns the words that may follow the command: names of subcommands, valid positional values, and names of
/// options.
std::string following(const std::vector<CommandOutline>& all, const CommandOutline& command) {
  std::vector<std::string> words = words_below(all, command);
  for (const bool positional : {true, false}) {
    for (const OptionOutline& option : command.options) {
      if (option.is_positional != positional) continue;
      const auto& more = positional ? option.choices : option.names;
      words.insert(words.end(), more.begin(), more.end());
    }
  }
  return joined(words);
}

std::vector<std::string> first_words(const std::vector<CommandOutline>& all) {
  std::vector<std::string> words;
  for (const CommandOutline& command : all) {
    if (!is_below(command)) words.push_back(command.name);
  }
  return words;
}

// Returns the completion script for bash. For a value without known choices, the shell suggests files.
std::string for_bash(const std::vector<CommandOutline>& all) {
  std::string text =
      "_reprise() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} known=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    known='" +
      joined(first_words(all)) + "'\n  else\n    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n";
  for (const CommandOutline& command : all) {
    if (is_below(command))
      text.append("      '" + command.name + " '*|'" + command.name + "') known='" + following(all, command) +
                  "' ;;\n");
  }
  for (const CommandOutline& command : all) {
    if (!is_below(command))
      text.append("      '" + command.name + " '*) known='" + following(all, command) + "' ;;\n");
  }
  text.append("    esac\n    case \"${COMP_WORDS[1]} $before\" in\n");
  for (const CommandOutline& command : all) {
    for (const OptionOutline& option : command.options) {
      if (option.is_positional || !option.takes_value) continue;
      const std::string first = command.name.substr(0, command.name.find(' '));
      for (const std::string& name : option.names)
        text.append(fmt::format("      '{} {}') known='{}' ;;\n", first, name, joined(option.choices)));
    }
  }
  return text +
         "    esac\n  fi\n  # If only options are known here, the shell may also complete files.\n  [[ "
         "$known == -* && $word != -* ]] && known=\n  [ -z \"$known\" ] || mapfile -t COMPREPLY < <(compgen "
         "-W \"$known\" -- \"$word\")\n}\ncomplete -o default -F _reprise reprise\n";
}

std::string zsh_option(const OptionOutline& option, const std::string& name) {
  constexpr std::string_view special = "[]:\\";
  const std::string value =
      option.is_file ? ":file:_files"
                     : (option.choices.empty() ? ":value: " : ":value:(" + joined(option.choices) + ")");
  const std::string about = quoted(option.description, special, "'\\''");
  return "'" + name + "[" + about.substr(1, about.size() - 2) + "]" + (option.takes_value ? value : "") + "'";
}

std::string for_zsh(const std::vector<CommandOutline>& all) {
  std::string text = "#compdef reprise\n_reprise() {\n  local -a commands\n  commands=(\n";
  for (const CommandOutline& command : all) {
    if (!is_below(command))
      text.append("    " + quoted(command.name + ":" + command.description, "", "'\\''") + "\n");
  }
  text.append(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case "
      "$words[2] in\n");
  for (const CommandOutline& command : all) {
    if (is_below(command)) continue;
    const std::string below = joined(words_below(all, command));
    text.append("    " + command.name + ")\n      _arguments");
    for (const CommandOutline& other : all) {
      if (other.name != command.name && !other.name.starts_with(command.name + " ")) continue;
      for (const OptionOutline& option : other.options) {
        if (option.is_positional) continue;
        for (const std::string& name : option.names) text.append(" \\\n        " + zsh_option(option, name));
      }
    }
    text.append(" \\\n        ")
        .append(below.empty() ? "'*:file:_files'" : "'2:verb:(" + below + ")'")
        .append(" ;;\n");
  }
  return text +
         "  esac\n}\n[ \"$funcstack[1]\" = _reprise ] && _reprise \"$@\" || compdef _reprise reprise\n";
}

std::string fish_option(const OptionOutline& option) {
  std::string text;
  for (const std::string& name : option.names)
    text.append(name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
  if (option.takes_value) text.append(option.is_file ? " -r -F" : " -x");
  if (!option.choices.empty()) text.append(" -a '" + joined(option.choices) + "'");
  return text + " -d " + quoted(option.description, "\\", "\\'");
}

std::string for_fish(const std::vector<CommandOutline>& all) {
  std::string text;
  for (const CommandOutline& command : all) {
    const std::size_t blank = command.name.find(' ');
    const std::string about = " -d " + quoted(command.description, "\\", "\\'") + "\n";
    const std::string seen = "complete -c reprise -n '__fish_seen_subcommand_from ";
    if (blank == std::string::npos) {
      text.append("complete -c reprise -f -n __fish_use_subcommand -a " + command.name + about);
    } else {
      const std::string_view name = command.name;
      text.append(
          fmt::format("{}{}' -f -a {}{}", seen, name.substr(0, blank), name.substr(blank + 1), about));
    }
    for (const OptionOutline& option : command.options) {
      if (!option.is_positional)
        text.append(seen + command.name.substr(blank == std::string::npos ? 0 : blank + 1) + "'" +
                    fish_option(option) + "\n");
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("completion", "print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("reprise completion bash > /etc/bash_completion.d/reprise");
  command->callback([&app, shell, &code] {
    const std::vector<CommandOutline> all = outline_of(app);
    const std::string text =
        *shell == "bash" ? for_bash(all) : (*shell == "zsh" ? for_zsh(all) : for_fish(all));
    std::fputs(text.c_str(), stdout);
    code = exit_ok;
  });
}

}  // namespace reprise::cli
