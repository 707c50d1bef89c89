#include "proxy/cli/startup/shortcut_options.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "config/keys/keys.hpp"

namespace reprise::cli {
namespace {

bool is_list(const config::Key& key) {
  return key.kind == config::Kind::list || key.kind == config::Kind::rule;
}

/// Stores a flag. A later value replaces an earlier value, so that a user can override a flag in a shell
/// alias. If `adds_up` is true, the values are joined into a list instead.
void keep(config::Flags& flags, const std::string& name, std::string value, bool adds_up) {
  const auto same =
      std::find_if(flags.begin(), flags.end(), [&](const auto& flag) { return flag.first == name; });
  if (same == flags.end()) {
    flags.emplace_back(name, std::move(value));
  } else {
    same->second = adds_up ? same->second + "," + value : std::move(value);
  }
}

/// Returns the placeholder for the flag's value in --help. If the key accepts only some words, the
/// placeholder lists them, as in `WORD:{error,warn}`. Shell completion takes the words from this text.
std::string type_of(const config::Shortcut& shortcut, const config::Key& key) {
  std::string type(shortcut.value);
  if (key.kind != config::Kind::word) return type;
  type.append(":{");
  for (const std::string_view word : config::split_words(key.words))
    type.append(type.ends_with('{') ? "" : ",").append(word);
  return type + "}";
}

}  // namespace

void add_shortcuts(CLI::App& command, ShortcutsOf which, const std::shared_ptr<config::Flags>& flags) {
  for (const config::Shortcut& shortcut : config::shortcut_table) {
    const config::Key* const key = config::find_key(shortcut.path);
    const bool of_routes = shortcut.path.starts_with("defaults.") || shortcut.path == "parent";
    if (key == nullptr || (which == ShortcutsOf::routes && !of_routes)) continue;
    const std::string name(shortcut.flag);
    std::string about(shortcut.sentence);
    const bool is_free_port = which == ShortcutsOf::child && shortcut.path == "admin.bind";
    if (!is_list(*key))
      about.append(" (default ").append(is_free_port ? "a free port" : key->standard).append(")");
    command
        .add_option_function<std::vector<std::string>>(
            "--" + name,
            [flags, name, adds_up = is_list(*key)](const std::vector<std::string>& values) {
              for (const std::string& value : values) keep(*flags, name, value, adds_up);
            },
            about + "; variable " + config::variable_of(shortcut))
        ->type_name(type_of(shortcut, *key))
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group("The most used settings: flags win over the file, the file over variables");
  }
}

}  // namespace reprise::cli
