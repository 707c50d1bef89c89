// Makes exec and its command trust the right certificates: those that the caller trusts already, and those of
// the interception bundle.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Adds the certificates that the variables name to the trusted roots of this process. Writes all these
/// certificates to a file in `folder`, and sets SSL_CERT_FILE to the path of the file, because the
/// verification of upstreams and the writer of the bundle read this variable. Call after forking the command
/// and before this process has threads. Returns a warning for each variable whose certificates cannot be
/// read. Throws std::runtime_error.
std::vector<std::string> trust_as_caller(const tools::Variables& named, const std::string& folder);

/// Creates a folder of ini files in `folder` that make PHP trust the bundle. Returns the path of the new
/// folder. Throws std::runtime_error.
std::string make_php_folder(const std::string& folder, const std::string& bundle);

}  // namespace reprise::cli
