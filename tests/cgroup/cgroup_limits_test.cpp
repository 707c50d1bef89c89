#include "proxy/server/cgroup/cgroup_limits.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/own_folder.hpp"

namespace reprise::server {
namespace {

/// Fixture: the /proc and cgroup files of an invented machine.
class CgroupLimits : public ::testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = folder_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void unified(const std::string& group) const {
    write("/proc/self/cgroup", "0::" + group + "\n");
    write("/proc/self/mountinfo",
          "23 1 0:21 / /proc rw - proc proc rw\n29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  }
  Limits limits() const { return read_limits(folder_.path()); }

  play::OwnFolder folder_;
};

TEST_F(CgroupLimits, cgroup_v2_limits_are_read_in_a_container) {
  unified("/");
  write("/sys/fs/cgroup/memory.max", "67108864\n");
  write("/sys/fs/cgroup/memory.high", "max\n");
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 64U << 20U);
  EXPECT_EQ(limits().memory_file, "/sys/fs/cgroup/memory.max");
  EXPECT_EQ(limits().cpus, 0.5);
  EXPECT_EQ(limits().cpu_file, "/sys/fs/cgroup/cpu.max");
  EXPECT_EQ(text_of(limits()), "memory 64MiB (/sys/fs/cgroup/memory.max), 0.5 CPUs (/sys/fs/cgroup/cpu.max)");
}

TEST_F(CgroupLimits, tightest_limit_of_all_ancestor_groups_applies) {
  unified("/a/b/c");
  write("/sys/fs/cgroup/a/memory.max", "300000000\n");
  write("/sys/fs/cgroup/a/b/memory.high", "100000000\n");
  write("/sys/fs/cgroup/a/b/memory.max", "200000000\n");
  write("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  write("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(limits().memory_bytes, 100000000U);
  EXPECT_EQ(limits().memory_file, "/sys/fs/cgroup/a/b/memory.high");
  EXPECT_EQ(limits().cpus, 1.0);
  EXPECT_EQ(text_of(limits()),
            "memory 100MB (/sys/fs/cgroup/a/b/memory.high), 1 CPU (/sys/fs/cgroup/a/cpu.max)");
  write("/sys/fs/cgroup/a/b/c/memory.max", "100000000\n");
  EXPECT_EQ(limits().memory_file, "/sys/fs/cgroup/a/b/c/memory.max") << "of equals the nearest";
}

TEST_F(CgroupLimits, cgroup_v1_limits_are_read_and_unlimited_values_mean_no_limit) {
  write("/proc/self/cgroup", "4:memory:/pod/x\n2:cpu,cpuacct:/pod/x\n");
  write("/proc/self/mountinfo",
        "31 23 0:1 / /cg/memory rw - cgroup cgroup rw,memory\n32 23 0:2 / /cg/cpu rw - cgroup cgroup "
        "rw,cpu,cpuacct\n");
  write("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/cg/memory/pod/x/memory.limit_in_bytes", "9223372036854771712\n");
  write("/cg/cpu/pod/x/cpu.cfs_quota_us", "-1\n");
  write("/cg/cpu/pod/x/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(limits().memory_bytes);
  EXPECT_FALSE(limits().cpus);
  EXPECT_EQ(text_of(limits()), "none known");
  write("/cg/memory/pod/memory.limit_in_bytes", "134217728\n");
  write("/cg/cpu/pod/x/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(limits().memory_bytes, 128U << 20U);
  EXPECT_EQ(limits().memory_file, "/cg/memory/pod/memory.limit_in_bytes");
  EXPECT_EQ(limits().cpus, 1.5);
  EXPECT_EQ(limits().cpu_file, "/cg/cpu/pod/x/cpu.cfs_quota_us");
}

TEST_F(CgroupLimits, hybrid_hierarchy_limits_are_read_where_the_controllers_are_mounted) {
  write("/proc/self/cgroup", "4:memory:/x\n0::/y\n");
  write("/proc/self/mountinfo",
        "31 23 0:1 / /cg/memory rw - cgroup cgroup rw,memory\n32 23 0:2 / /cg/unified rw - cgroup2 c rw\n");
  write("/cg/memory/x/memory.limit_in_bytes", "50000000\n");
  write("/cg/unified/y/cgroup.controllers", "\n");
  EXPECT_EQ(limits().memory_bytes, 50000000U);
  EXPECT_EQ(limits().memory_file, "/cg/memory/x/memory.limit_in_bytes");
}

TEST_F(CgroupLimits, limit_file_path_of_a_root_mount_has_no_double_slash) {
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", "1 1 0:1 / / rw - cgroup2 c rw\n");
  write("/memory.max", "8000000\n");
  EXPECT_EQ(limits().memory_file, "/memory.max");
}

TEST_F(CgroupLimits, unreadable_or_malformed_limit_files_mean_no_limit) {
  EXPECT_EQ(text_of(limits()), "none known") << "there is no /proc";
  unified("/gone (deleted)");
  EXPECT_EQ(text_of(limits()), "none known") << "there is no such group any more";
  write("/sys/fs/cgroup/memory.max", std::string(10'000, 'x'));
  write("/sys/fs/cgroup/cpu.max", "50000 0");
  EXPECT_EQ(text_of(limits()), "none known") << "garbage";
  std::filesystem::remove(folder_.path() + "/sys/fs/cgroup/memory.max");
  std::filesystem::create_directory(folder_.path() + "/sys/fs/cgroup/memory.max");
  ASSERT_EQ(::mkfifo((folder_.path() + "/sys/fs/cgroup/memory.high").c_str(), 0600), 0);
  EXPECT_EQ(text_of(limits()), "none known") << "a folder, and a pipe that nobody writes to";
  write("/sys/fs/cgroup/cpu.max", "33333 100000");
  EXPECT_EQ(text_of(limits()), "0.333 CPUs (/sys/fs/cgroup/cpu.max)");
}

TEST(CgroupLimitsOfThisMachine, limits_of_this_machine_can_be_read) {
  EXPECT_FALSE(text_of(read_limits()).empty());
}

}  // namespace
}  // namespace reprise::server
