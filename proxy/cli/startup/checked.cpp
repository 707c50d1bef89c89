#include "proxy/cli/startup/checked.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cli/line/exit_codes.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/named_files.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::cli {
namespace {

using Severity = config::Problem::Severity;

json::value number_or_null(std::size_t number) { return number == 0 ? json::value() : json::value(number); }

json::array problems_of(const Checked& checked, Severity severity) {
  json::array all;
  for (const config::Problem& problem : checked.problems) {
    if (problem.severity != severity) continue;
    all.push_back({{"line", number_or_null(problem.line)},
                   {"column", number_or_null(problem.column)},
                   {"path", telemetry::or_null(problem.path)},
                   {"message", problem.message}});
  }
  return all;
}

}  // namespace

std::size_t Checked::errors() const {
  return static_cast<std::size_t>(std::count_if(problems.begin(), problems.end(), [](const auto& problem) {
    return problem.severity == Severity::error;
  }));
}

Checked check_file(const std::string& file, const config::Flags& flags, const server::Limits& limits) {
  Checked checked;
  checked.file = file;
  config::Loaded loaded = read_configuration(file, flags);
  checked.notes = fit_to(limits, loaded, file);
  for (std::string& note : notes_of_given(loaded)) checked.notes.push_back(std::move(note));
  checked.problems = std::move(loaded.problems);
  for (std::string& warning : misspelt_variables())
    checked.problems.push_back({Severity::warning, 0, 0, {}, std::move(warning), true});
  if (!loaded.settings) {
    checked.code = exit_code_of(checked.problems);
    return checked;
  }
  checked.routes = loaded.settings->routes->size() - 1;
  for (config::Problem& problem : problems_of_files(loaded, file))
    checked.problems.push_back(std::move(problem));
  for (config::Problem& problem : warnings_of_files(loaded)) checked.problems.push_back(std::move(problem));
  if (checked.errors() > 0) checked.code = exit_bad_configuration;
  return checked;
}

std::string as_json(const std::vector<Checked>& all) {
  json::array list;
  for (const Checked& checked : all) {
    list.push_back({{"file", checked.file},
                    {"ok", checked.is_good()},
                    {"errors", problems_of(checked, Severity::error)},
                    {"warnings", problems_of(checked, Severity::warning)},
                    {"notes", telemetry::list_of(checked.notes)}});
  }
  return telemetry::document_lines(list);
}

}  // namespace reprise::cli
