// From a configuration to what a command does with it: it
// is loaded, told of, and made the options of a proxy.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.hpp"
#include "config/otel_variables.hpp"
#include "proxy/net/tls/tls_client.hpp"
#include "proxy/server/cgroup/cgroup_limits.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/process/proxy.hpp"
#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Seconds since 1970.
std::int64_t wall_seconds();
/// What a variable of the environment holds, or nothing.
std::optional<std::string> variable_now(std::string_view name);

/// What `-c` was given; empty if it was not.
std::string given_file(const CLI::Option* option);
/// The built-in defaults where `file` is empty, standard input where it is `-`. `settings` is absent if a
/// problem is an error.
config::Loaded read_configuration(const std::string& file, const config::Flags& = {});
bool is_standard_input(const std::string& file);
/// The same of a file that is then watched: what it, those that it names and the system's roots held before
/// they were read stands in `watched`.
config::Loaded read_for_watch(const std::string& file, const config::Flags&,
                              std::vector<server::WatchedFile>& watched);
/// Puts in force what the limits of this process make of it: the notes that it returns say what was lowered,
/// with the file; what they cannot bear and the file says is one more warning of it.
std::vector<std::string> fit_to(const server::Limits&, config::Loaded&, const std::string& file);
/// What a running proxy reads when the file has changed, under the limits and variables that it found at its
/// start.
server::NewConfiguration read_again(const std::string& file, const config::Flags&, const server::Limits&,
                                    const config::OtelVariables& = {});
/// Gives the configuration the collector that the variables name, unless the file has one. Returns what is
/// wrong with it.
std::vector<std::string> follow_otel(const config::OtelVariables&, config::Loaded&);
/// Prints `text`, which may have several lines, on standard error. Where that is the journal, each line
/// begins with the priority of `level`.
void print_on_stderr(config::LogLevel level, const std::string& text);
/// Prints every problem.
void print_problems(const std::vector<config::Problem>&, const std::string& file);
void print_problems(const config::Loaded&, const std::string& file);
/// Both.
config::Loaded load_configuration(const std::string& file);
/// The exit code for errors of a configuration: wrong use if flags alone are wrong.
int exit_code_of(const std::vector<config::Problem>&);
/// One line for each flag and variable that was given: what it sets, or why it is not used.
std::vector<std::string> notes_of_given(const config::Loaded&);
/// Warnings about variables that begin with REPRISE_ and are nearly one of those that are read.
std::vector<std::string> misspelt_variables();

/// The first listener that clients use as their proxy; null if there is none.
const config::Listener* first_forward(const config::Settings&);

/// What run and exec tell their proxy alike. What the configuration is warned of goes to its log.
/// Lowers what the limits of this process do not allow.
server::ProxyOptions proxy_options(config::Loaded&, const std::string& file);
/// For a process that serves: its signals, and as many descriptors as the limits ask for.
void prepare_process(const config::Limits&);

/// Prints everything that is wrong with the files that the configuration names, or `otherwise` if each can be
/// used now, and returns the exit code.
int tell_file_errors(const config::Loaded&, const std::string& file, const std::string& otherwise);
/// What clients are to trust where `intercept` has a bundle; nothing elsewhere.
std::optional<tools::TrustFiles> trust_files(const config::Settings&);

}  // namespace reprise::cli
