#include "proxy/server/cgroup/membership.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view unified_mount =
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Membership, cgroup_v2_gives_one_group_from_one_mount) {
  const auto groups = groups_of("0::/system.slice/reprise.service\n", unified_mount);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].is_unified);
  EXPECT_EQ(groups[0].mount_point, "/sys/fs/cgroup");
  EXPECT_EQ(groups[0].below, (Names{"system.slice", "reprise.service"}));
}

TEST(Membership, process_in_its_own_cgroup_namespace_is_in_the_root_group) {
  const auto groups = groups_of("0::/\n", unified_mount);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].below.empty());
}

TEST(Membership, cgroup_v1_gives_one_group_for_each_controller_mount) {
  const auto groups =
      groups_of("9:name=systemd:/x\n8:pids:/x\n4:memory:/pod/one\n2:cpu,cpuacct:/pod\n",
                "30 23 0:3 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
                "31 23 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                "32 23 0:2 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                "33 23 0:4 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0].has_memory);
  EXPECT_FALSE(groups[0].has_cpu);
  EXPECT_FALSE(groups[0].is_unified);
  EXPECT_EQ(groups[0].below, (Names{"pod", "one"}));
  EXPECT_TRUE(groups[1].has_cpu);
  EXPECT_EQ(groups[1].mount_point, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(groups[1].below, Names{"pod"});
}

TEST(Membership, hybrid_hierarchy_gives_cgroup_v1_and_v2_groups) {
  const auto groups = groups_of("4:memory:/a\n0::/b\n",
                                "31 23 0:1 / /cg/memory rw - cgroup cgroup rw,memory\n"
                                "32 23 0:2 / /cg/unified rw - cgroup2 none rw\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].below, Names{"a"});
  EXPECT_EQ(groups[1].below, Names{"b"});
}

TEST(Membership, mount_of_a_subtree_covers_only_that_group_and_its_descendants) {
  const std::string mount = "31 23 0:1 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  const auto own = groups_of("4:memory:/docker/abc\n", mount);
  ASSERT_EQ(own.size(), 1U);
  EXPECT_TRUE(own[0].below.empty());
  EXPECT_EQ(groups_of("4:memory:/docker/abc/d\n", mount)[0].below, Names{"d"});
  EXPECT_TRUE(groups_of("4:memory:/docker/abcd\n", mount).empty()) << "another one, whose name begins alike";
  EXPECT_TRUE(groups_of("4:memory:/docker\n", mount).empty()) << "it is above";
  EXPECT_TRUE(groups_of("4:memory:/\n", mount).empty());
}

TEST(Membership, paths_with_dot_dot_refer_to_groups_above_the_namespace) {
  const auto mounted = [](const std::string& root) {
    return "29 23 0:26 " + root + " /cg rw - cgroup2 cgroup2 rw\n";
  };
  EXPECT_EQ(groups_of("0::/../other/x\n", mounted("/.."))[0].below, (Names{"other", "x"}));
  EXPECT_EQ(groups_of("0::/../other/x\n", mounted("/../other"))[0].below, Names{"x"});
  EXPECT_TRUE(groups_of("0::/../other\n", mounted("/")).empty()) << "not shown at all";
  const auto above = groups_of("0::/a\n", mounted("/../.."));
  ASSERT_EQ(above.size(), 1U) << "two groups above our root, of names that nobody tells";
  EXPECT_TRUE(above[0].below.empty());
  EXPECT_TRUE(groups_of("0::/a\n", mounted("/../b")).empty()) << "beside ours, or ours: nobody knows";
}

TEST(Membership, escaped_blanks_and_plain_colons_in_paths_are_read) {
  const auto groups = groups_of("0::/a b:c\n", "29 23 0:26 / /mnt/my\\040groups\\ rw - cgroup2 cgroup2 rw\n");
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].mount_point, "/mnt/my groups\\");
  EXPECT_EQ(groups[0].below, Names{"a b:c"});
  EXPECT_EQ(groups_of("0::/a b\n", "29 23 0:26 /a\\040b /cg rw - cgroup2 x rw\n").size(), 1U);
}

TEST(Membership, malformed_proc_lines_are_ignored) {
  for (const char* cgroup :
       {"", "\n\n", "0:", "0::", "0::a/b", "0::/a/../../etc", "nonsense", ":::", "\0\xff"})
    EXPECT_TRUE(groups_of(cgroup, unified_mount).size() <= (std::string_view(cgroup) == ":::" ? 1U : 0U))
        << cgroup;
  for (const char* mounts :
       {"", "29 23 0:26 /", "29 23 0:26 / /cg rw cgroup2 x rw", "29 23 0:26 / /cg rw - cgroup2",
        "29 23 - cgroup2 x rw", "29 23 0:26 / cg rw - cgroup2 x rw", "29 23 0:26 x /cg rw - cgroup2 x rw",
        "29 23 0:26 / /cg rw - tmpfs x rw", "29 23 0:26 /a/../b /cg rw - cgroup2 x rw"})
    EXPECT_TRUE(groups_of("0::/\n1:memory:/\n", mounts).empty()) << mounts;
}

}  // namespace
}  // namespace reprise::server
