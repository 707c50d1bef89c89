// Tests which user becomes the owner of a key that root creates.
#include "proxy/server/intercept/key_owner.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy/server/intercept/authority.hpp"
#include "proxy/server/intercept/authority_files.hpp"
#include "tests/support/own_folder.hpp"

namespace reprise::server {
namespace {

const Account root{0, 0, "root"};
const Account app{1001, 1001, "app"};
const Account service{105, 112, "reprise"};

std::string name_of(const std::optional<Account>& account) { return account ? account->name : "nobody else"; }

TEST(KeyOwner, folder_owner_has_priority_over_the_service_user) {
  EXPECT_EQ(name_of(owner_of_key(0, app, service)), "app");
  EXPECT_EQ(name_of(owner_of_key(0, root, service)), "reprise");
  EXPECT_EQ(name_of(owner_of_key(0, std::nullopt, service)), "reprise");
  EXPECT_EQ(name_of(owner_of_key(0, root, std::nullopt)), "nobody else");
}

TEST(KeyOwner, keys_written_by_a_non_root_user_keep_their_owner) {
  EXPECT_EQ(name_of(owner_of_key(1001, root, service)), "nobody else");
}

TEST(KeyOwner, user_named_like_the_service_gets_no_key_unless_it_is_a_system_user) {
  EXPECT_EQ(name_of(owner_of_key(0, root, Account{1000, 1000, "reprise"})), "nobody else");
  EXPECT_EQ(name_of(owner_of_key(0, root, Account{0, 0, "reprise"})), "nobody else");
}

TEST(KeyOwner, key_created_by_root_belongs_to_the_folder_owner_and_chown_is_suggested_for_old_keys) {
  if (::geteuid() != 0) GTEST_SKIP() << "kernel: only root gives files away";
  constexpr uid_t theirs = 65534;
  const play::OwnFolder folder;
  const std::string file = folder.path() + "/ca.key";
  if (::chown(folder.path().c_str(), theirs, theirs) != 0)
    GTEST_SKIP() << "kernel: there are no other users here";
  write_new_key(file, Authority::make_key().get());
  struct stat state {};
  ASSERT_EQ(::stat(file.c_str(), &state), 0);
  EXPECT_EQ(state.st_uid, theirs);
  EXPECT_EQ(state.st_mode & 0777U, 0600U);
  EXPECT_FALSE(command_for_owner(file));
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  EXPECT_EQ(command_for_owner(file), "chown " + user_name(theirs) + " " + file);
}

TEST(KeyOwner, user_without_a_name_is_shown_by_number) { EXPECT_EQ(user_name(4000000001), "4000000001"); }

}  // namespace
}  // namespace reprise::server
