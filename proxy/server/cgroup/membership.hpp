// The control groups that a process is in, as folders: from
// the texts of /proc/self/cgroup and /proc/self/mountinfo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reprise::server {

/// A group by one mount of its hierarchy.
struct Group {
  bool is_unified = false;  ///< version 2, where every group may have every controller's files
  bool has_memory = false;  ///< version 1: the hierarchy of the memory controller
  bool has_cpu = false;     ///< version 1: that of the cpu controller
  std::string mount_point;  ///< absolute
  /// The folders from there down to the group. Where the mount shows groups above it whose way down has no
  /// names here (a cgroup namespace), empty: the mount's own group is one that it is in.
  std::vector<std::string> below;
};

/// cgroups(7), proc(5), cgroup_namespaces(7). Lines that say something else are passed over; a group that no
/// mount shows is left out.
std::vector<Group> groups_of(std::string_view cgroup, std::string_view mountinfo);

}  // namespace reprise::server
