// The files that tell exec and its command which certificates to trust. The caller's own certificates stay
// trusted.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Adds the certificates that the variables name to the roots of this process. The verification of upstreams
/// and the writer of the bundle both read SSL_CERT_FILE, which this function sets to a file in `folder`. Call
/// after forking the command and before this process has threads. Returns a warning for each variable whose
/// certificates cannot be read. Throws std::runtime_error.
std::vector<std::string> trust_as_caller(const tools::Variables& named, const std::string& folder);

/// Creates a folder of ini files in `folder` that make PHP trust the bundle. Returns its path. Throws
/// std::runtime_error.
std::string make_php_folder(const std::string& folder, const std::string& bundle);

}  // namespace reprise::cli
