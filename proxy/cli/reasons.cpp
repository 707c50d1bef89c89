#include <cstdio>
#include <string>

#include "proxy/cli/commands.hpp"
#include "proxy/policy/reason.hpp"

namespace reprise::cli {
namespace {

// The table in README.md is this text; a test compares them.
std::string reasons_markdown() {
  std::string text = "| reason | tried again? | meaning |\n|---|---|---|\n";
  for (const policy::Reason reason : policy::all_reasons()) {
    text.append("| `").append(policy::word(reason)).append("` | ");
    text.append(policy::is_retry(reason) ? "yes" : "no")
        .append(" | ")
        .append(policy::meaning(reason))
        .append(" |\n");
  }
  return text;
}

}  // namespace

void add_reasons(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("reasons", "print the table of reasons, as Markdown");
  command->footer("reprise reasons | grep not_idempotent");
  command->callback([] { std::fputs(reasons_markdown().c_str(), stdout); });
}

}  // namespace reprise::cli
