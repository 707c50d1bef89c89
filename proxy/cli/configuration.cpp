#include "proxy/cli/configuration.hpp"

#include <cstdio>
#include <cstdlib>

namespace reprise::cli {
namespace {

std::optional<std::string> variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::string given_file(const CLI::Option* option) {
  return option->count() > 0 ? option->as<std::string>() : std::string();
}

config::Loaded load_configuration(const std::string& file) {
  if (file.empty()) return {config::built_in(), {}, ""};
  config::Loaded loaded = config::load_file(file, variable);
  for (const config::Problem& problem : loaded.problems) {
    std::fprintf(stderr, "%s\n", config::to_line(problem, file).c_str());
  }
  return loaded;
}

}  // namespace reprise::cli
