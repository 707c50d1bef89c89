// The authority's files: a certificate, and a private key that only its owner may read.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "config/settings.hpp"
#include "proxy/server/intercept/authority.hpp"

namespace reprise::server {

/// A file of `intercept` cannot be used. `what()` begins with the configuration key, such as
/// `intercept.ca.key`, and says what to do.
class InterceptError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads both files and checks that they match; `check_authority` checks the rest. Throws InterceptError.
/// `at`: the configuration file, named in the command that repairs the problem.
std::shared_ptr<const Authority> read_authority(const config::Intercept&, const std::string& at);
/// Reads the key only. Throws InterceptError.
PrivateKey read_key(const config::Intercept&, const std::string& at);
/// Checks that the authority may be used at the time `now` for the hosts in the settings. Throws
/// InterceptError if it must not be used.
void check_authority(const Authority&, const config::Intercept&, const std::string& at, std::int64_t now);
/// Reads and checks the authority.
std::shared_ptr<const Authority> load_authority(const config::Intercept&, const std::string& at,
                                                std::int64_t now);

/// Writes the key as PEM with mode 0600 to a new file; never overwrites one. If run by root, gives the file
/// to the service's account, as `owner_of_key_file` decides. Throws InterceptError.
void write_new_key(const std::string& file, EVP_PKEY*);
/// Replaces a file atomically, with mode 0644. Creates missing folders. Throws std::runtime_error.
void replace_file(const std::string& file, std::string_view content);

}  // namespace reprise::server
