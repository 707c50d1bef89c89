// Fuzz target: configuration files. Any input gives settings, or errors with their positions. The effective
// configuration, printed and loaded, gives the same settings.
#include <algorithm>

#include "config/load.hpp"
#include "config/reference/effective.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace config;

constexpr std::string_view secret = "s3cr3t-value";

std::optional<std::string> environment(std::string_view name) {
  if (name == "PORT") return "3128";
  return name == "SECRET" ? std::optional<std::string>(secret) : std::nullopt;
}

/// Returns true if the text refers to a file other than /dev/null and /nowhere. A fuzzer must not read
/// arbitrary files.
bool names_files(std::string_view text) {
  for (std::size_t at = text.find("file:"); at != std::string_view::npos; at = text.find("file:", at + 1)) {
    const std::string_view path = text.substr(at + 5);
    if (!path.starts_with("/dev/null}") && !path.starts_with("/nowhere")) return true;
  }
  return false;
}

/// Returns an upper bound of the number of lines that the loader counts: CRLF counts as two line ends.
std::size_t lines_of(std::string_view text) {
  const auto breaks = std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; });
  return static_cast<std::size_t>(breaks) + 1;
}

void judge_problem(const Problem& problem, std::size_t lines, bool secret_is_secret) {
  law(problem.line >= 1 && problem.column >= 1, "a problem has a place");
  law(problem.line <= lines + 1, "which is in the file");
  law(!problem.message.empty(), "it says what is wrong");
  const std::string line = to_line(problem, "f");
  law(std::none_of(line.begin(), line.end(),
                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
      "in one line that a terminal can show");
  law(!secret_is_secret || line.find(secret) == std::string::npos, "and tells no secret");
  law(line.size() < 2000, "and briefly");
}

void judge_settings(const Settings& settings) {
  const std::string printed = effective_yaml(settings);
  const Loaded again = load_text(printed, nullptr);
  law(again.settings.has_value(), "the settings in force load");
  law(effective_yaml(*again.settings) == printed, "to themselves");
  law(again.settings->routes->size() == settings.routes->size(), "with all their routes");
  law(settings.routes->size() >= 1, "of which there is one at least");
}

void judge(std::string_view text) {
  const Loaded loaded = load_text(text, environment);
  law(loaded.hash.size() == 12, "a file has its hash");
  law(loaded.problems.size() <= 200, "the answer is bounded");
  const std::size_t lines = lines_of(text);
  bool refused = false;
  for (const Problem& problem : loaded.problems) {
    judge_problem(problem, lines, text.find(secret) == std::string_view::npos);
    refused = refused || problem.severity == Problem::Severity::error;
  }
  law(std::is_sorted(loaded.problems.begin(), loaded.problems.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; }),
      "problems come in the order of the file");
  law(loaded.settings.has_value() != refused || loaded.problems.size() == 200, "settings, or an error");
  if (!loaded.settings) return;
  judge_settings(*loaded.settings);
  if (mixed(text) % 4 != 0) return;
  const Loaded twice = load_text(text, environment);
  law(twice.hash == loaded.hash && effective_yaml(*twice.settings) == effective_yaml(*loaded.settings),
      "the same file, the same settings");
  const Loaded commented = load_text("# a comment\n" + std::string(text), environment);
  const bool marked = text.starts_with("\xef\xbb\xbf") || text.starts_with('%');
  law(marked || commented.settings.has_value(), "a comment before it changes nothing");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = reprise::fuzz::Input(bytes, size).rest();
  if (!reprise::fuzz::names_files(text)) reprise::fuzz::judge(text);
  return 0;
}
