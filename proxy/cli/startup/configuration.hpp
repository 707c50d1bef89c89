// Loads a configuration for a command, prints its problems, and derives the options of a proxy from it.
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

/// Returns the current time in seconds since 1970.
std::int64_t wall_seconds();
/// Returns the value of an environment variable, or nothing if it is not set.
std::optional<std::string> variable_now(std::string_view name);

/// Returns the value of the option `-c`, or an empty text if the option was not given.
std::string given_file(const CLI::Option* option);
/// Reads a configuration. If `file` is empty, uses the built-in defaults. If `file` is `-`, reads standard
/// input. `settings` of the result is absent if any problem is an error.
config::Loaded read_configuration(const std::string& file, const config::Flags& = {});
bool is_standard_input(const std::string& file);
/// Reads a configuration file that will be watched. Sets `watched` to the digests of this file, of the files
/// that it names, and of the system's trusted root certificates. Takes the digests before the reading, so
/// that no change is missed.
config::Loaded read_for_watch(const std::string& file, const config::Flags&,
                              std::vector<server::WatchedFile>& watched);
/// Lowers the settings that exceed the limits of this process. Returns a note about each lowered setting,
/// with the file name. Also adds a warning to the problems for each value in the file that exceeds a limit.
std::vector<std::string> fit_to(const server::Limits&, config::Loaded&, const std::string& file);
/// Reads the configuration of a running proxy again after a change. Uses the limits and variables that were
/// read at startup.
server::NewConfiguration read_again(const std::string& file, const config::Flags&, const server::Limits&,
                                    const config::OtelVariables& = {});
/// Uses the trace collector that the OTEL environment variables name, unless the configuration file names a
/// collector. Returns the problems of these variables.
std::vector<std::string> follow_otel(const config::OtelVariables&, config::Loaded&);
/// Prints `text`, which may have several lines, on standard error. If standard error goes to the journal,
/// puts the priority of `level` before each line.
void print_on_stderr(config::LogLevel level, const std::string& text);
/// Prints every problem on standard error.
void print_problems(const std::vector<config::Problem>&, const std::string& file);
void print_problems(const config::Loaded&, const std::string& file);
/// Loads a configuration, prints its problems, and returns it.
config::Loaded load_configuration(const std::string& file);
/// Returns the exit code for the errors of a configuration: `exit_usage` if only flags are wrong, otherwise
/// `exit_bad_configuration`.
int exit_code_of(const std::vector<config::Problem>&);
/// Returns one line for each flag and environment variable that was given. The line names the key that it
/// sets, or says why it is ignored.
std::vector<std::string> notes_of_given(const config::Loaded&);
/// Returns warnings about unknown environment variables that begin with REPRISE_ and resemble a supported
/// variable.
std::vector<std::string> misspelt_variables();

/// Returns the first listener with the mode `forward`. Null if there is no such listener.
const config::Listener* first_forward(const config::Settings&);

/// Returns the options of the proxy for the commands run and exec. Lowers settings that exceed the limits of
/// this process. Passes the warnings about the configuration to the proxy's log.
server::ProxyOptions proxy_options(config::Loaded&, const std::string& file);
/// Prepares a process that serves requests. Sets its signal handling. Raises its limit of open descriptors,
/// if possible, to the number that the settings need.
void prepare_process(const config::Limits&);

/// Prints every problem of the files that the configuration names. If all of these files can now be used,
/// prints `otherwise` instead. Returns the exit code.
int print_file_errors(const config::Loaded&, const std::string& file, const std::string& otherwise);
/// Returns the certificate files that clients must trust, or nothing if `intercept` has no bundle.
std::optional<tools::TrustFiles> trust_files(const config::Settings&);

}  // namespace reprise::cli
