#include "proxy/cli/startup/configuration.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "config/keys/keys.hpp"
#include "config/yaml/document.hpp"
#include "proxy/cli/line/exit_codes.hpp"
#include "proxy/cli/startup/named_files.hpp"
#include "proxy/net/io/descriptors.hpp"
#include "proxy/net/systemd/journal.hpp"
#include "proxy/net/tls/file_digest.hpp"
#include "proxy/net/tls/root_places.hpp"
#include "proxy/server/cgroup/fit.hpp"
#include "proxy/server/intercept/trust.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::cli {
namespace {

constexpr std::string_view standard_input = "-";

// Reads standard input, up to one byte more than the largest valid size. The extra byte shows that the text
// is too large.
std::string read_standard_input() {
  std::string text(config::largest_file + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  return text;
}

// Returns the position of a key that server::fit may warn about. Line 0 if the file does not set the key.
config::Place place_of(const config::Loaded& loaded, std::string_view path) {
  std::optional<config::Place> place;
  if (path == "limits.replay_memory") place = loaded.replay_memory;
  if (path == "limits.stream_memory") place = loaded.stream_memory;
  if (path == "threads") place = loaded.threads;
  return place.value_or(config::Place{});
}

server::WatchedFile digest_now(const std::string& file) { return {file, net::digest_of_files({&file, 1})}; }

}  // namespace

std::int64_t wall_seconds() { return net::Clock::wall_nanoseconds() / 1'000'000'000; }

std::optional<std::string> variable_now(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string given_file(const CLI::Option* option) {
  return option->count() > 0 ? option->as<std::string>() : std::string();
}

config::Loaded read_configuration(const std::string& file, const config::Flags& flags) {
  if (file == standard_input) return config::load_text(read_standard_input(), variable_now, flags);
  if (!file.empty()) return config::load_file(file, variable_now, flags);
  config::Loaded built_in = config::load_text("version: 1\n", variable_now, flags);
  built_in.hash.clear();
  return built_in;
}

bool is_standard_input(const std::string& file) { return file == standard_input; }

// Reads the configuration to learn which files it names. If it names any files, takes their digests and then
// reads the configuration again, so that no change of these files is missed.
config::Loaded read_for_watch(const std::string& file, const config::Flags& flags,
                              std::vector<server::WatchedFile>& watched) {
  watched = {digest_now(file)};
  for (const std::string& place : net::root_places().all()) watched.push_back(digest_now(place));
  config::Loaded loaded = read_configuration(file, flags);
  if (loaded.files.empty()) return loaded;
  for (const std::string& named : loaded.files) watched.push_back(digest_now(named));
  loaded = read_configuration(file, flags);
  for (const std::string& named : loaded.files) {
    const auto is_it = [&](const server::WatchedFile& other) { return other.path == named; };
    if (std::none_of(watched.begin(), watched.end(), is_it)) watched.push_back({named});
  }
  return loaded;
}

std::vector<std::string> fit_to(const server::Limits& limits, config::Loaded& loaded,
                                const std::string& file) {
  std::vector<std::string> notes;
  if (!loaded.settings) return notes;
  const server::SetInFile in_file{loaded.replay_memory.has_value(), loaded.stream_memory.has_value()};
  const server::Fitted fitted = server::fit(*loaded.settings, in_file, limits);
  loaded.settings->limits.replay_memory_bytes = fitted.replay_memory_bytes;
  loaded.settings->limits.stream_memory_bytes = fitted.stream_memory_bytes;
  for (const server::Remark& note : fitted.notes)
    notes.push_back((file.empty() ? std::string() : file + ": ") + note.path + " " + note.message);
  for (const server::Remark& warning : fitted.warnings) {
    const config::Place place = place_of(loaded, warning.path);
    loaded.problems.push_back(
        {config::Problem::Severity::warning, place.line, place.column, warning.path, warning.message});
  }
  return notes;
}

std::vector<std::string> follow_otel(const config::OtelVariables& otel, config::Loaded& loaded) {
  std::vector<std::string> warnings;
  if (loaded.settings) config::follow_otel(otel, loaded.otlp.has_value(), *loaded.settings, warnings);
  return warnings;
}

server::NewConfiguration read_again(const std::string& file, const config::Flags& flags,
                                    const server::Limits& limits, const config::OtelVariables& otel) {
  server::NewConfiguration read;
  config::Loaded loaded = read_for_watch(file, flags, read.files);
  fit_to(limits, loaded, file);
  read.problems = follow_otel(otel, loaded);
  read.hash = loaded.hash;
  // Skips warnings if the configuration cannot be used, because only the errors matter then.
  for (const config::Problem& problem : loaded.problems) {
    const bool is_error = problem.severity == config::Problem::Severity::error;
    if (is_error || loaded.settings) read.problems.push_back(config::to_line(problem, file));
  }
  read.settings = loaded.settings;
  read.file_problems = [loaded = std::move(loaded), file](const std::string& otherwise) {
    return lines_of_files(loaded, file, otherwise);
  };
  return read;
}

void print_on_stderr(config::LogLevel level, const std::string& text) {
  const bool is_journal = net::is_journal_stream(variable_now, STDERR_FILENO);
  const std::string prefix(is_journal ? telemetry::priority_prefix(level) : "");
  std::string lines = prefix;
  for (const char byte : text) {
    lines += byte;
    if (byte == '\n') lines += prefix;
  }
  std::fprintf(stderr, "%s\n", lines.c_str());
}

void print_problems(const std::vector<config::Problem>& problems, const std::string& file) {
  for (const config::Problem& problem : problems) {
    const bool is_error = problem.severity == config::Problem::Severity::error;
    print_on_stderr(is_error ? config::LogLevel::error : config::LogLevel::warn,
                    config::to_line(problem, file));
  }
}

void print_problems(const config::Loaded& loaded, const std::string& file) {
  print_problems(loaded.problems, file);
}

config::Loaded load_configuration(const std::string& file) {
  config::Loaded loaded = read_configuration(file);
  print_problems(loaded, file);
  return loaded;
}

int exit_code_of(const std::vector<config::Problem>& problems) {
  const auto is_of_file = [](const config::Problem& problem) {
    return problem.severity == config::Problem::Severity::error &&
           !(problem.given && problem.path.starts_with("--"));
  };
  const bool any = std::any_of(problems.begin(), problems.end(), is_of_file);
  return any ? exit_bad_configuration : exit_usage;
}

std::vector<std::string> notes_of_given(const config::Loaded& loaded) {
  std::vector<std::string> notes;
  for (const config::GivenValue& value : loaded.given) {
    std::string& note = notes.emplace_back(value.source + (value.source.starts_with("--") ? " " : "="));
    note.append(value.text).append(value.used ? " sets " : " is not used: ").append(value.path);
    if (!value.used) note.append(" is set by the file or a flag");
  }
  return notes;
}

std::vector<std::string> misspelt_variables() {
  std::vector<std::string> known;
  for (const config::Shortcut& shortcut : config::shortcut_table) {
    known.push_back(config::variable_of(shortcut).substr(config::variable_prefix.size()));
    if (!shortcut.alias.empty()) known.emplace_back(shortcut.alias.substr(config::variable_prefix.size()));
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  std::vector<std::string> warnings;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view name = *entry;
    name = name.substr(0, name.find('='));
    if (!name.starts_with(config::variable_prefix)) continue;
    const std::string_view own = name.substr(config::variable_prefix.size());
    const std::string_view near = config::nearest(own, candidates);
    if (near.empty() || near == own) continue;
    warnings.push_back(config::printable(name) + " is ignored: unknown variable" +
                       config::did_you_mean(std::string(config::variable_prefix).append(near)));
  }
  return warnings;
}

const config::Listener* first_forward(const config::Settings& settings) {
  for (const config::Listener& listener : settings.listeners) {
    if (listener.mode == config::ListenerMode::forward) return &listener;
  }
  return nullptr;
}

server::ProxyOptions proxy_options(config::Loaded& loaded, const std::string& file) {
  server::ProxyOptions options;
  options.limits = server::read_limits();
  options.notes = fit_to(options.limits, loaded, file);
  for (std::string& note : notes_of_given(loaded)) options.notes.push_back(std::move(note));
  for (std::string& warning : misspelt_variables()) options.warnings.push_back(std::move(warning));
  options.version = REPRISE_VERSION;
  options.config_file = file;
  options.config_hash = loaded.hash;
  for (const config::Problem& problem : loaded.problems)
    options.warnings.push_back(config::to_line(problem, file, ""));
  return options;
}

void prepare_process(const config::Limits& limits) {
  // Ignores SIGPIPE, so that a write to a client or log reader that has disconnected fails instead of ending
  // the process.
  std::signal(SIGPIPE, SIG_IGN);
  // Ignores SIGXFSZ, so that a write beyond RLIMIT_FSIZE fails, like a write to a full disk, instead of
  // ending the process.
  std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
  // Memory blocks of 32 KiB or more, such as those of long heads, get their own pages. These pages return to
  // the system when they are freed. On the heap, a burst of long heads would leave unused memory between
  // small blocks that are freed much later.
  ::mallopt(M_MMAP_THRESHOLD, 32 * 1024);
#endif
  net::raise_descriptor_limit(limits.connections, limits.admin_connections);
}

std::optional<tools::TrustFiles> trust_files(const config::Settings& settings) {
  if (!settings.intercept || !settings.intercept->bundle) return std::nullopt;
  const std::string& bundle = *settings.intercept->bundle;
  return tools::TrustFiles{bundle, server::truststore_file(bundle), server::truststore_password};
}

int print_file_errors(const config::Loaded& loaded, const std::string& file, const std::string& otherwise) {
  for (const std::string& line : lines_of_files(loaded, file, otherwise))
    print_on_stderr(config::LogLevel::error, line);
  return exit_bad_configuration;
}

}  // namespace reprise::cli
