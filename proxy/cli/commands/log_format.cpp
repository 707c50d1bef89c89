#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/telemetry/log/access_fields.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::cli {
namespace {

using telemetry::FieldOf;
using telemetry::FieldRow;

// Returns the title of the table in which the field is listed.
std::string_view title(FieldOf of) {
  switch (of) {
    case FieldOf::every_line: return "Every line";
    case FieldOf::request: return "The access line of a request";
    case FieldOf::call: return "The object `grpc` of the access line of a gRPC call";
    case FieldOf::attempt: return "Each item of the list of attempts";
    case FieldOf::exhausted:
      return "The `error` record of a request that was not retried further because of a limit; it also has "
             "route, method and ids as above";
    case FieldOf::message: break;
  }
  return "Any other line";
}

std::string name(std::string_view name) { return name.empty() ? "" : "`" + std::string(name) + "`"; }

std::string unit(const FieldRow& row) {
  const auto& [own, otel] = row.units;
  return std::string(own) + (own == otel ? "" : "; " + std::string(otel));
}

// Returns the tables of fields in Markdown. docs/access-log.md contains the same text; a test compares them.
std::string fields_markdown() {
  std::string text;
  const FieldRow* before = nullptr;
  for (const FieldRow& row : telemetry::field_rows) {
    if (before == nullptr || before->of != row.of) {
      text.append(before == nullptr ? "" : "\n").append("## ").append(title(row.of));
      text.append("\n\n| `json` | `otel` | type | unit | meaning |\n|---|---|---|---|---|\n");
    }
    before = &row;
    text.append("| ").append(name(row.names[0])).append(" | ").append(name(row.names[1])).append(" | ");
    text.append(row.type).append(" | ").append(unit(row)).append(" | ").append(row.meaning).append(" |\n");
  }
  return text;
}

std::string fields_json() {
  using telemetry::or_null;
  json::array all;
  for (const FieldRow& row : telemetry::field_rows) {
    all.push_back({{"in", policy::names_of<FieldOf>[static_cast<std::size_t>(row.of)]},
                   {"json", or_null(row.names[0])},
                   {"otel", or_null(row.names[1])},
                   {"type", or_null(row.type)},
                   {"json_unit", or_null(row.units[0])},
                   {"otel_unit", or_null(row.units[1])},
                   {"meaning", or_null(row.meaning)}});
  }
  return telemetry::document_lines(all);
}

}  // namespace

void add_log_format(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand(
      "log-format", "print every field of the access log: its names, type, unit and meaning");
  command->footer("reprise log-format | grep bytes");
  const auto format = std::make_shared<std::string>("markdown");
  command->add_option("--format", *format, "markdown or json")->check(CLI::IsMember({"markdown", "json"}));
  command->callback(
      [format] { std::fputs((*format == "json" ? fields_json() : fields_markdown()).c_str(), stdout); });
}

}  // namespace reprise::cli
