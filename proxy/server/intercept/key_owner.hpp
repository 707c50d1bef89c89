// Decides which account owns the authority's key if root makes the key for a service.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace reprise::server {

/// A user with its group. `name` is the user's number if the user has no name.
struct Account {
  uid_t user = 0;
  gid_t group = 0;
  std::string name;
};

/// The account that the Debian package creates and the shipped unit runs as.
inline constexpr const char* service_account = "reprise";

/// Returns the account that should own a key, or none if the key stays with the process that makes it. Root
/// gives the key to the owner of its folder. If root owns the folder too, the key goes to `service`, unless
/// that account is a person's.
std::optional<Account> owner_of_key(uid_t self, const std::optional<Account>& folder,
                                    const std::optional<Account>& service);

/// Applies `owner_of_key` to this process and to a key file on this host.
std::optional<Account> owner_of_key_file(const std::string& file);

/// Returns the name of a user, or its number if it has none.
std::string user_name(uid_t user);

/// Returns the `chown` command for a key file that belongs to root, but should belong to the account that
/// `owner_of_key_file` returns. Returns none if the owner is right, or if this process does not run as root.
std::optional<std::string> command_for_owner(const std::string& file);

}  // namespace reprise::server
