#include "proxy/cli/startup/checked.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cli/line/exit_codes.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/named_files.hpp"
#include "proxy/telemetry/log/json_text.hpp"

namespace reprise::cli {
namespace {

using Severity = config::Problem::Severity;

std::string number_or_null(std::size_t number) { return number == 0 ? "null" : std::to_string(number); }

void append_problem(std::string& out, const config::Problem& problem) {
  out.append(R"({"line":)").append(number_or_null(problem.line));
  out.append(R"(,"column":)").append(number_or_null(problem.column)).append(R"(,"path":)");
  if (problem.path.empty()) {
    out.append("null");
  } else {
    telemetry::append_json(out, problem.path);
  }
  out.append(R"(,"message":)");
  telemetry::append_json(out, problem.message);
  out.append("}");
}

void append_problems(std::string& out, const std::vector<config::Problem>& problems, Severity severity) {
  const char* separator = "";
  for (const config::Problem& problem : problems) {
    if (problem.severity != severity) continue;
    out.append(std::exchange(separator, ","));
    append_problem(out, problem);
  }
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
  std::string out = "[";
  for (const Checked& checked : all) {
    out.append(&checked == &all.front() ? "\n" : ",\n").append(R"({"file":)");
    telemetry::append_json(out, checked.file);
    out.append(R"(,"ok":)").append(checked.is_good() ? "true" : "false").append(R"(,"errors":[)");
    append_problems(out, checked.problems, Severity::error);
    out.append(R"(],"warnings":[)");
    append_problems(out, checked.problems, Severity::warning);
    out.append(R"(],"notes":[)");
    for (const std::string& note : checked.notes) {
      if (&note != &checked.notes.front()) out.append(",");
      telemetry::append_json(out, note);
    }
    out.append("]}");
  }
  return out + (all.empty() ? "]\n" : "\n]\n");
}

}  // namespace reprise::cli
