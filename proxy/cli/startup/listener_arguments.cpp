#include "proxy/cli/startup/listener_arguments.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "config/keys/address.hpp"
#include "config/keys/scalar.hpp"
#include "config/reference/render.hpp"
#include "proxy/cli/line/exit_codes.hpp"
#include "proxy/cli/startup/configuration.hpp"

namespace reprise::cli {
namespace {

/// A configuration text made from command line arguments, and the argument from which each line was made.
struct Written {
  std::string text;
  std::vector<std::string> arguments;  ///< argument from which each line was made; empty if there is none
  std::vector<std::string> faults;

  void line(std::string_view words, std::string argument = {}) {
    text.append(words).append("\n");
    arguments.push_back(std::move(argument));
  }
  /// Adds the line of a listener to the configuration text. `before` and `after` are the text on both sides
  /// of the listener's address.
  void bind(std::string argument, std::string_view port, std::string_view before, const std::string& after,
            std::string_view form) {
    const auto number = config::parse_whole(port);
    const bool is_whole = config::parse_endpoint(port).value.has_value();
    if (is_whole || (number && *number.value <= 65535)) {
      line(std::string(before) + "{bind: \"" + (is_whole ? "" : "127.0.0.1:") + std::string(port) + "\"" +
               after + "}",
           std::move(argument));
    } else {
      faults.push_back(argument + ": write " + std::string(form));
    }
  }
};

Written write(const ListenerArguments& given) {
  Written file;
  file.line("version: 1");
  if (given.forwards.empty() && given.gateways.empty()) return file;
  file.line("listeners:");
  for (const std::string& port : given.forwards)
    file.bind("--forward " + port, port, "  - ", ", mode: forward", "--forward PORT, such as --forward 3128");
  for (const std::string& gateway : given.gateways) {
    const std::size_t equal = gateway.find('=');
    const std::string url = equal == std::string::npos ? "" : gateway.substr(equal + 1);
    const std::string_view port = std::string_view(gateway).substr(0, url.empty() ? 0 : equal);
    file.bind("--gateway " + gateway, port, "  - ", ", mode: gateway, upstream: " + config::yaml_scalar(url),
              "--gateway PORT=URL, such as --gateway 3180=https://api.example.com");
  }
  return file;
}

bool is_of_variable(const config::Problem& problem) {
  return problem.severity == config::Problem::Severity::error && problem.given &&
         !problem.path.starts_with("--");
}

}  // namespace

FromArguments configuration_of(const ListenerArguments& given, const config::Flags& flags) {
  Written file = write(given);
  FromArguments made;
  made.faults = std::move(file.faults);
  made.code = exit_usage;
  if (!made.faults.empty()) return made;
  made.loaded = config::load_text(file.text, variable_now, flags);
  made.loaded.hash.clear();
  // The user has not seen the generated text. So an error in a line is reported as an error of the argument
  // from which the line was made.
  if (std::any_of(made.loaded.problems.begin(), made.loaded.problems.end(), is_of_variable))
    made.code = exit_bad_configuration;
  for (const config::Problem& problem : made.loaded.problems) {
    if (problem.severity == config::Problem::Severity::warning) continue;
    const bool known = problem.line > 0 && problem.line <= file.arguments.size();
    const std::string argument = known ? file.arguments[problem.line - 1] : std::string();
    made.faults.push_back((argument.empty() ? problem.path : argument) + ": " + problem.message);
  }
  return made;
}

}  // namespace reprise::cli
