#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "config/keys/keys.hpp"
#include "config/keys/synonyms.hpp"
#include "config/presets/presets.hpp"
#include "config/reference/effective.hpp"
#include "config/reference/reference.hpp"
#include "config/reference/schema.hpp"
#include "config/yaml/document.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/shortcut_options.hpp"

namespace reprise::cli {
namespace {

int print_effective(const std::string& file, const config::Flags& flags) {
  config::Loaded loaded = read_configuration(file, flags);
  const server::Limits limits = server::read_limits();
  std::vector<std::string> notes = fit_to(limits, loaded, file);
  for (std::string& note : notes_of_given(loaded)) notes.push_back(std::move(note));
  print_problems(loaded, file);
  if (!loaded.settings) return exit_code_of(loaded.problems);
  // Prints the limits of this process as comments, so that the output is a valid configuration.
  if (limits.memory_bytes || limits.cpus)
    std::printf("# limits: %s\n", config::printable(server::text_of(limits)).c_str());
  for (const std::string& note : notes) std::printf("# %s\n", config::printable(note).c_str());
  std::fputs(config::effective_yaml(*loaded.settings).c_str(), stdout);
  return exit_ok;
}

int print_preset(const std::string& name) {
  if (const auto text = config::preset_text(name)) {
    std::fwrite(text->data(), 1, text->size(), stdout);
    return exit_ok;
  }
  std::string known;
  for (const std::string_view preset : config::preset_names()) known.append(" ").append(preset);
  std::fprintf(stderr, "reprise config: unknown preset %s%s; the presets are:%s\n",
               config::printable(name).c_str(), config::did_you_mean(config::meant_preset(name)).c_str(),
               known.c_str());
  return exit_usage;
}

/// Returns the placeholder for a preset name in --help, with all valid names: `NAME:{aws,gcs}`. Shell
/// completion takes the names from this text.
std::string type_of_presets() {
  std::string type = "NAME:{";
  for (const std::string_view preset : config::preset_names())
    type.append(type.ends_with('{') ? "" : ",").append(preset);
  return type + "}";
}

}  // namespace

void add_config(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "config", "print the effective configuration, a preset, the reference page or the JSON Schema");
  const CLI::Option* file =
      command->add_option("-c,--config,config", "configuration file (default: the built-in defaults)");
  const CLI::Option* effective =
      command->add_flag("--effective")->description("print the effective configuration, as YAML");
  const CLI::Option* reference =
      command->add_flag("--reference")->description("print a description of every key, as Markdown");
  const CLI::Option* schema =
      command->add_flag("--schema")->description("print the JSON Schema, for editors");
  const CLI::Option* preset =
      command->add_option("--preset", "print the file of a shipped preset")->type_name(type_of_presets());
  const auto flags = std::make_shared<config::Flags>();
  add_shortcuts(*command, ShortcutsOf::process, flags);
  command->footer("reprise config --effective -c reprise.yaml");
  command->callback([file, effective, reference, schema, preset, flags, &code] {
    if (effective->count() + reference->count() + schema->count() + preset->count() == 0) {
      std::fputs(
          "reprise config: name what to print: --effective, --preset NAME, --reference or --schema; "
          "see reprise help config\n",
          stderr);
      code = exit_usage;
    }
    if (reference->count() > 0) std::fputs(config::reference_markdown().c_str(), stdout);
    if (schema->count() > 0) std::fputs(config::schema_json().c_str(), stdout);
    if (preset->count() > 0) code = print_preset(preset->as<std::string>());
    if (effective->count() > 0) code = print_effective(given_file(file), *flags);
  });
}

}  // namespace reprise::cli
