#include <cstdio>
#include <memory>
#include <string>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/policy/decision/reason.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::cli {
namespace {

// Returns the table of reasons in Markdown. docs/reasons.md contains the same text; a test compares them.
std::string reasons_markdown() {
  std::string text = "| reason | retried? | meaning |\n|---|---|---|\n";
  for (const policy::Reason reason : policy::all_reasons()) {
    text.append("| `").append(policy::word(reason)).append("` | ");
    text.append(policy::is_retry(reason) ? "yes" : "no")
        .append(" | ")
        .append(policy::meaning(reason))
        .append(" |\n");
  }
  return text;
}

std::string reasons_json() {
  json::array all;
  for (const policy::Reason reason : policy::all_reasons()) {
    all.push_back({{"reason", policy::word(reason)},
                   {"retry", policy::is_retry(reason)},
                   {"meaning", policy::meaning(reason)}});
  }
  return telemetry::document_lines(all);
}

}  // namespace

void add_reasons(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("reasons", "print the table of reasons");
  command->footer("reprise reasons | grep not_idempotent");
  const auto format = std::make_shared<std::string>("markdown");
  command->add_option("--format", *format, "markdown or json")->check(CLI::IsMember({"markdown", "json"}));
  command->callback(
      [format] { std::fputs((*format == "json" ? reasons_json() : reasons_markdown()).c_str(), stdout); });
}

}  // namespace reprise::cli
