// Makes exec and its command trust the certificates that the caller already trusts, and those of the
// interception bundle.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Adds the certificates in the files that `named` lists to the trusted roots of this process. Writes all
/// trusted roots to a file in `folder`, and sets SSL_CERT_FILE to its path. The verification of upstreams and
/// the writer of the bundle read this variable. Call after the command was forked and before this process has
/// threads. Returns a warning for each variable whose certificates cannot be read. Throws std::runtime_error.
std::vector<std::string> trust_as_caller(const tools::Variables& named, const std::string& folder);

/// Creates a folder in `folder` with an ini file that makes PHP trust the bundle. Returns the path of the new
/// folder. Throws std::runtime_error.
std::string make_php_folder(const std::string& folder, const std::string& bundle);

}  // namespace reprise::cli
