// The authority's files: a certificate and a private key that nobody else may read.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "config/settings.hpp"
#include "proxy/server/intercept/authority.hpp"

namespace reprise::server {

/// A file of `intercept` cannot be used. `what()` begins
/// with its key, `intercept.ca.key`, and says what to do.
class InterceptError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads both, and checks that they belong together. What else is wrong with them, `check_authority` says.
/// Throws InterceptError; `at` names the configuration file in the command that mends it.
std::shared_ptr<const Authority> read_authority(const config::Intercept&, const std::string& at);
/// The key alone. Throws InterceptError.
PrivateKey read_key(const config::Intercept&, const std::string& at);
/// Throws InterceptError where the authority must not be used at that time, or not for those hosts.
void check_authority(const Authority&, const config::Intercept&, const std::string& at, std::int64_t now);
/// Both.
std::shared_ptr<const Authority> load_authority(const config::Intercept&, const std::string& at,
                                                std::int64_t now);

/// PEM, 0600, in a new file: never over one that is there. Root gives the file to the account of the service,
/// as `owner_of_key_file` decides. Throws InterceptError.
void write_new_key(const std::string& file, EVP_PKEY*);
/// Takes the place of what is there, at once; 0644. Throws std::runtime_error. Makes the folder.
void replace_file(const std::string& file, std::string_view content);

}  // namespace reprise::server
