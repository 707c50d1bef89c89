// Finds the control groups of a process as folders, from the texts of /proc/self/cgroup and
// /proc/self/mountinfo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reprise::server {

/// A control group, as one mount of its hierarchy shows it.
struct Group {
  bool is_unified = false;  ///< true for cgroup version 2: the group may have the files of every controller
  bool has_memory = false;  ///< true for the hierarchy of the memory controller in cgroup version 1
  bool has_cpu = false;     ///< true for the hierarchy of the cpu controller in cgroup version 1
  std::string mount_point;  ///< absolute
  /// Folders from the mount point down to the group. Empty if the group at the mount point is above the
  /// cgroup namespace, because the names of the folders below it are then unknown. The process is in the
  /// group at the mount point too.
  std::vector<std::string> below;
};

/// Parses the texts of /proc/self/cgroup and /proc/self/mountinfo; see cgroups(7), proc(5),
/// cgroup_namespaces(7). Ignores malformed lines. Omits groups that no mount shows.
std::vector<Group> groups_of(std::string_view cgroup, std::string_view mountinfo);

}  // namespace reprise::server
