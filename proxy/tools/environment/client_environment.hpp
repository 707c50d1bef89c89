// The environment variables that make a program use the proxy, for the child process of `exec`, for `env`,
// and for `inject`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::tools {

/// Pairs of name and value, in the order in which they are printed.
using Variables = std::vector<std::pair<std::string, std::string>>;
/// Returns the current value of a variable, or nothing if it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Certificates that programs trust instead of the system's roots.
struct TrustFiles {
  std::string bundle;      ///< PEM file
  std::string truststore;  ///< PKCS#12 file, for Java
  std::string password;
  std::string php_folder{};  ///< folder of ini files for PHP; empty if nothing is set for PHP
};

/// Returns the variables for a proxy at `host` and `port`:
///  - each proxy variable in lower case and in upper case, and settings for runtimes that do not read these
///    variables;
///  - with `trust`, the variables that make programs trust the certificates in the files of `trust`;
///  - no_proxy and NO_PROXY as one list without duplicates: the current members of both, and the metadata
///    services of clouds;
///  - JAVA_TOOL_OPTIONS and, with `trust`, PHP_INI_SCAN_DIR: the current value, followed by our settings.
Variables client_environment(const std::string& host, unsigned port, const Lookup& now,
                             const std::optional<TrustFiles>& trust = std::nullopt);

/// Returns the variables, such as CURL_CA_BUNDLE, that name a file of trusted certificates, with their
/// current values. Omits SSL_CERT_FILE, empty variables, and variables with the same value as SSL_CERT_FILE.
Variables named_trust(const Lookup& now);

/// The variables to restore, with their values; a variable without a value is removed.
using Restored = std::vector<std::pair<std::string, std::optional<std::string>>>;
/// Returns the changes that undo client_environment for the same arguments. Keeps the hosts in no_proxy and
/// the options in JAVA_TOOL_OPTIONS that client_environment did not add. Omits the variables that
/// client_environment did not change.
Restored restored_environment(const std::string& host, unsigned port, const Lookup& now,
                              const std::optional<TrustFiles>& trust = std::nullopt);
/// Returns text in the given format that restores the variables: shell commands for sh and fish, empty values
/// for dotenv, UnsetEnvironment= for systemd, `$patch: delete` for Kubernetes.
std::string restoring_text(std::string_view format, const Restored&);

/// Returns the names of the formats: `sh`, `fish`, `dotenv`, `systemd`, `kubernetes`. Each format has one
/// variable per line.
std::vector<std::string_view> environment_formats();
std::string written_as(std::string_view format, const Variables&);

}  // namespace reprise::tools
