// `reprise top`: shows the status of a running proxy on a screen or as lines.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "proxy/cli/commands/admin_address.hpp"
#include "proxy/cli/commands/assumption.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/terminal/terminal.hpp"
#include "proxy/cli/terminal/top_lines.hpp"
#include "proxy/cli/terminal/top_screen.hpp"

namespace reprise::cli {
namespace {

struct TopArguments {
  std::string admin;
  std::string file;
  std::string interval = "1s";
  std::string format;
  std::uint64_t count = 0;
};

Duration interval_of(const std::string& given) {
  constexpr Duration shortest = std::chrono::milliseconds(100);
  constexpr Duration longest = std::chrono::hours(1);
  const auto parsed = config::parse_duration(given);
  if (!parsed) throw BadUse("--interval: `" + given + "` " + parsed.reason);
  if (*parsed.value < shortest || *parsed.value > longest)
    throw BadUse("--interval " + given + ": out of range: write 100ms to 1h");
  return *parsed.value;
}

bool is_set(std::string_view name) { return !variable_now(name).value_or("").empty(); }

// Returns true if standard input and output are a terminal on which a screen can be drawn. Otherwise, the
// command prints lines.
bool has_screen() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && is_set("TERM") &&
         variable_now("TERM") != "dumb";
}

int show(const server::AdminAddress& at, Duration interval) {
  ScreenOptions options;
  options.at = at;
  options.interval = interval;
  options.interval_text = config::duration_text(interval);
  options.colour = !is_set("NO_COLOR");
  options.charset = charset_of_locale();
  const ScreenEnd end = show_top(options);
  if (!end.error.empty()) {
    std::fprintf(stderr, "reprise top: %s\n", end.error.c_str());
    return exit_runtime;
  }
  if (end.signal == 0) return exit_ok;
  // Ends this process by the signal that ended the screen, so that the parent process can see which signal it
  // was.
  std::signal(end.signal, SIG_DFL);
  std::raise(end.signal);
  return exit_runtime;
}

int print(const server::AdminAddress& at, Duration interval, const TopArguments& given) {
  LinesOptions options;
  options.at = at;
  options.interval = interval;
  options.form = given.format == "json" ? tools::LineForm::json : tools::LineForm::text;
  options.count = given.count;
  options.print = [](std::string_view lines) {
    return std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size() && std::fflush(stdout) == 0;
  };
  options.warn = [](std::string_view sentence) {
    std::fprintf(stderr, "reprise top: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  };
  return print_top(options) ? exit_ok : exit_runtime;
}

int watch(const TopArguments& given) {
  const Duration interval = interval_of(given.interval);
  int code = exit_ok;
  const auto at = admin_address(given.admin, given.file, code);
  if (!at) return code;
  const bool lines_wanted = !given.format.empty() || given.count > 0;
  return has_screen() && !lines_wanted ? show(*at, interval) : print(*at, interval, given);
}

}  // namespace

void add_top(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "top", "watch a running proxy: routes, upstreams, and requests that were retried or refused");
  const auto given = std::make_shared<TopArguments>();
  CLI::Option* admin =
      command->add_option("--admin", given->admin, "HOST:PORT of the running proxy's admin listener");
  command
      ->add_option("-c,--config", given->file,
                   "configuration file that names the admin listener (admin.bind)")
      ->excludes(admin);
  command->add_option("--interval", given->interval, "time between two readings, 100ms to 1h (default 1s)");
  command
      ->add_option("--format", given->format,
                   "print lines instead of a screen: text or json (without a terminal: text)")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_option("--count", given->count, "print the lines of this many intervals, then exit")
      ->check(CLI::PositiveNumber);
  command->footer("reprise top --format json --interval 10s --count 6");
  command->callback([given, &code] {
    try {
      code = watch(*given);
    } catch (const BadUse& error) {
      std::fprintf(stderr, "reprise top: %s\n", error.what());
      code = exit_usage;
    }
  });
}

}  // namespace reprise::cli
