// The files by which exec and its command trust certificates: those of the caller are kept.
#pragma once

#include <string>
#include <vector>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Adds the certificates that the variables name to the roots of this process. The verification of upstreams
/// and the writer of the bundle both read SSL_CERT_FILE, which this function sets to a file in `folder`. Call
/// it before this process has threads, and after it has forked its command. Returns a warning for each
/// variable whose certificates cannot be read. Throws std::runtime_error.
std::vector<std::string> trust_as_caller(const tools::Variables& named, const std::string& folder);

/// Makes a folder of ini files in `folder` by which PHP trusts the bundle, and returns its path. Throws
/// std::runtime_error.
std::string make_php_folder(const std::string& folder, const std::string& bundle);

}  // namespace reprise::cli
