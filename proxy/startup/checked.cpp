#include "proxy/startup/checked.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "proxy/intercept/secret_memory.hpp"
#include "proxy/log/json_text.hpp"
#include "proxy/replay/temporary_file.hpp"
#include "proxy/startup/configuration.hpp"

namespace reprise::cli {
namespace {

using Severity = config::Problem::Severity;

config::Problem error_of(std::string message, std::size_t line = 0) {
  return {Severity::error, line, 0, {}, std::move(message)};
}

/// Why no temporary file can be made where request bodies go; empty: one was.
std::string trouble_with_folder(const config::Limits& limits) {
  if (limits.replay_disk_bytes == 0) return {};
  const int descriptor = net::system_file_calls().open(limits.replay_folder);
  if (descriptor < 0)
    return "limits.replay_folder " + limits.replay_folder +
           " cannot be used: " + std::generic_category().message(errno) +
           "; name a folder that reprise may write to";
  ::close(descriptor);
  return {};
}

void look_at_what_it_names(const config::Settings& settings, const std::string& file,
                           std::vector<config::Problem>& problems) {
  if (auto trouble = trouble_with_folder(settings.limits); !trouble.empty()) {
    problems.push_back(error_of(std::move(trouble)));
    return;
  }
  try {
    const auto& parent = settings.parent;
    const net::TlsClients loads(*settings.routes, parent && parent->tls ? &*parent->tls : nullptr);
    if (settings.intercept) {
      net::reserve_secret_memory();
      net::load_authority(*settings.intercept, file, wall_seconds());
    }
  } catch (const net::TlsSettingsError& error) {
    problems.push_back(error_of(error.what(), error.line()));
  } catch (const net::InterceptError& error) {
    problems.push_back(error_of(error.what()));
  }
}

std::string number_or_null(std::size_t number) { return number == 0 ? "null" : std::to_string(number); }

void append_problem(std::string& out, const config::Problem& problem) {
  out.append(R"({"line":)").append(number_or_null(problem.line));
  out.append(R"(,"column":)").append(number_or_null(problem.column)).append(R"(,"path":)");
  if (problem.path.empty()) {
    out.append("null");
  } else {
    observe::append_json(out, problem.path);
  }
  out.append(R"(,"message":)");
  observe::append_json(out, problem.message);
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

Checked check_file(const std::string& file, const cgroup::Limits& limits) {
  Checked checked;
  checked.file = file;
  config::Loaded loaded = read_configuration(file);
  checked.notes = fit_to(limits, loaded, file);
  checked.problems = std::move(loaded.problems);
  if (!loaded.settings) return checked;
  checked.routes = loaded.settings->routes->size() - 1;
  look_at_what_it_names(*loaded.settings, file, checked.problems);
  return checked;
}

std::string as_json(const std::vector<Checked>& all) {
  std::string out = "[";
  for (const Checked& checked : all) {
    out.append(&checked == &all.front() ? "\n" : ",\n").append(R"({"file":)");
    observe::append_json(out, checked.file);
    out.append(R"(,"ok":)").append(checked.is_good() ? "true" : "false").append(R"(,"errors":[)");
    append_problems(out, checked.problems, Severity::error);
    out.append(R"(],"warnings":[)");
    append_problems(out, checked.problems, Severity::warning);
    out.append(R"(],"notes":[)");
    for (const std::string& note : checked.notes) {
      if (&note != &checked.notes.front()) out.append(",");
      observe::append_json(out, note);
    }
    out.append("]}");
  }
  return out + (all.empty() ? "]\n" : "\n]\n");
}

}  // namespace reprise::cli
