// What a program has to find in its environment to ask through the proxy: for the child of exec, and for env.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::tools {

/// Names and values, in the order in which they are told.
using Variables = std::vector<std::pair<std::string, std::string>>;
/// What a variable holds now, or nothing.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// What is to be trusted in place of the system's roots.
struct TrustFiles {
  std::string bundle;      ///< PEM
  std::string truststore;  ///< PKCS#12, for Java
  std::string password;
  std::string php_folder{};  ///< of ini files for PHP; empty: PHP is left alone
};

/// For a proxy at that address and port: both spellings of each proxy variable, what runtimes need that read
/// none, and, where there is something to trust, what makes them trust it. no_proxy and NO_PROXY
/// are one list without doubles: what both say now, and the metadata services of clouds. JAVA_TOOL_OPTIONS
/// and PHP_INI_SCAN_DIR are appended to.
Variables client_environment(const std::string& host, unsigned port, const Lookup& now,
                             const std::optional<TrustFiles>& trust = std::nullopt);

/// Returns the variables by which the caller's programs trust certificates, as they are set now. Those that
/// name the same place as SSL_CERT_FILE, or none, are left out.
Variables named_trust(const Lookup& now);

/// Variables and the values that they get back; absent: the variable is removed.
using Restored = std::vector<std::pair<std::string, std::optional<std::string>>>;
/// Undoes client_environment for the same arguments. Keeps the hosts in no_proxy and the options in
/// JAVA_TOOL_OPTIONS that client_environment did not add. Omits variables in which client_environment has put
/// nothing.
Restored restored_environment(const std::string& host, unsigned port, const Lookup& now,
                              const std::optional<TrustFiles>& trust = std::nullopt);
/// Returns what restores the variables where written_as in the same format has set them: commands of a shell,
/// empty values for dotenv, UnsetEnvironment= for systemd, `$patch: delete` for Kubernetes.
std::string restoring_text(std::string_view format, const Restored&);

/// `sh`, `fish`, `dotenv`, `systemd`, `kubernetes`: each as its reader takes it, one variable a line.
std::vector<std::string_view> environment_formats();
std::string written_as(std::string_view format, const Variables&);

}  // namespace reprise::tools
