#include "proxy/cli/listener_arguments.hpp"

#include <optional>
#include <string_view>

#include "config/render.hpp"
#include "config/scalar.hpp"

namespace reprise::cli {
namespace {

// Lines of the file before its first listener.
constexpr std::size_t lines_before = 2;

/// A file with one listener a line, and the argument that each came from.
struct Written {
  std::string text = "version: 1\nlisteners:\n";
  std::vector<std::string> arguments;
  std::vector<std::string> faults;

  void add(std::string argument, std::string_view port, const std::string& rest, std::string_view form) {
    const auto number = config::parse_whole(port);
    if (!number || *number.value > 65535) {
      faults.push_back(argument + ": write " + std::string(form));
      return;
    }
    text.append("  - {bind: \"127.0.0.1:").append(port).append("\", ").append(rest).append("}\n");
    arguments.push_back(std::move(argument));
  }
};

Written write(const ListenerArguments& given) {
  Written file;
  for (const std::string& port : given.forwards)
    file.add("--forward " + port, port, "mode: forward", "--forward PORT, such as --forward 3128");
  for (const std::string& gateway : given.gateways) {
    const std::size_t equal = gateway.find('=');
    const std::string url = equal == std::string::npos ? "" : gateway.substr(equal + 1);
    const std::string_view port = std::string_view(gateway).substr(0, url.empty() ? 0 : equal);
    file.add("--gateway " + gateway, port, "mode: gateway, upstream: " + config::yaml_scalar(url),
             "--gateway PORT=URL, such as --gateway 3180=https://api.example.com");
  }
  return file;
}

}  // namespace

FromArguments configuration_of(const ListenerArguments& given) {
  Written file = write(given);
  FromArguments made;
  made.faults = std::move(file.faults);
  if (!made.faults.empty()) return made;
  made.loaded = config::load_text(file.text, [](std::string_view) { return std::nullopt; });
  for (const config::Problem& problem : made.loaded.problems) {
    const bool known = problem.line > lines_before && problem.line <= lines_before + file.arguments.size();
    const std::string where = known ? file.arguments[problem.line - lines_before - 1] : problem.path;
    made.faults.push_back(where + ": " + problem.message);
  }
  return made;
}

}  // namespace reprise::cli
