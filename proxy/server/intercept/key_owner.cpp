#include "proxy/server/intercept/key_owner.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace reprise::server {
namespace {

constexpr uid_t first_person = 1000;         // lowest user id of a person, as in Debian's /etc/adduser.conf
constexpr std::size_t account_room = 16384;  // buffer for one line of /etc/passwd, in bytes

struct Accounts {
  passwd entry{};
  std::array<char, account_room> room{};
};

std::optional<Account> account_named(const char* name) {
  Accounts found;
  passwd* entry = nullptr;
  if (::getpwnam_r(name, &found.entry, found.room.data(), found.room.size(), &entry) != 0 || entry == nullptr)
    return std::nullopt;
  return Account{entry->pw_uid, entry->pw_gid, name};
}

std::optional<Account> owner_of(const std::filesystem::path& path) {
  struct stat state {};
  if (::stat(path.empty() ? "." : path.c_str(), &state) != 0) return std::nullopt;
  return Account{state.st_uid, state.st_gid, user_name(state.st_uid)};
}

}  // namespace

std::string user_name(uid_t user) {
  Accounts found;
  passwd* entry = nullptr;
  if (::getpwuid_r(user, &found.entry, found.room.data(), found.room.size(), &entry) != 0 || entry == nullptr)
    return std::to_string(user);
  return entry->pw_name;
}

std::optional<Account> owner_of_key(uid_t self, const std::optional<Account>& folder,
                                    const std::optional<Account>& service) {
  if (self != 0) return std::nullopt;
  if (folder && folder->user != 0) return folder;
  if (service && service->user != 0 && service->user < first_person) return service;
  return std::nullopt;
}

std::optional<Account> owner_of_key_file(const std::string& file) {
  return owner_of_key(::geteuid(), owner_of(std::filesystem::path(file).parent_path()),
                      account_named(service_account));
}

std::optional<std::string> command_for_owner(const std::string& file) {
  const std::optional<Account> wanted = owner_of_key_file(file);
  const std::optional<Account> owner = owner_of(file);
  if (!wanted || !owner || owner->user != 0) return std::nullopt;
  return "chown " + wanted->name + " " + file;
}

}  // namespace reprise::server
