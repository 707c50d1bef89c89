#include "proxy/server/cgroup/membership.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace reprise::server {
namespace {

/// A path in a hierarchy, relative to the root of this process's cgroup namespace.
struct HierarchyPath {
  std::size_t up = 0;  ///< number of leading `..` in the path
  std::vector<std::string> names;
};

struct Membership {
  std::string_view controllers;  ///< names separated by commas; empty for cgroup version 2
  HierarchyPath path;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Parses a path. No group is named `..`, so `..` is valid only before the first name.
std::optional<HierarchyPath> read_path(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  HierarchyPath path;
  for (const std::string_view name : split(text, '/')) {
    if (name.empty()) continue;
    if (name != "..") {
      path.names.emplace_back(name);
    } else if (path.names.empty()) {
      ++path.up;
    } else {
      return std::nullopt;
    }
  }
  return path;
}

// Parses lines such as `4:memory:/a/b`; the path may contain colons.
std::vector<Membership> read_memberships(std::string_view text) {
  std::vector<Membership> all;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    if (auto path = read_path(line.substr(second + 1)))
      all.push_back({line.substr(first + 1, second - first - 1), std::move(*path)});
  }
  return all;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Replaces octal escapes such as \040 with their characters. The kernel escapes blanks and similar
// characters.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                           is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!is_escape) {
      plain.push_back(text[i]);
      continue;
    }
    const auto digit = [&](std::size_t at) { return static_cast<unsigned>(text[i + at] - '0'); };
    plain.push_back(static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3)));
    i += 3;
  }
  return plain;
}

struct Mount {
  bool is_unified = false;
  std::string_view controllers;  ///< controllers and other mount options, separated by commas
  std::string point;
  HierarchyPath root;  ///< the group that is visible at the mount point
};

// Parses a line such as `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory`. There may
// be more fields before the dash.
std::optional<Mount> read_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  const auto before = split(line.substr(0, dash), ' ');
  const auto behind = split(line.substr(dash + 3), ' ');
  if (before.size() < 6 || behind.size() < 3) return std::nullopt;
  Mount mount;
  mount.is_unified = behind[0] == "cgroup2";
  if (!mount.is_unified && behind[0] != "cgroup") return std::nullopt;
  mount.controllers = behind[2];
  mount.point = without_escapes(before[4]);
  auto root = read_path(without_escapes(before[3]));
  if (!root || !mount.point.starts_with('/')) return std::nullopt;
  mount.root = std::move(*root);
  return mount;
}

// Returns the names from group `from` down to group `to`; none if `to` is not below `from`, or if that cannot
// be determined.
std::optional<std::vector<std::string>> way_down(const HierarchyPath& from, const HierarchyPath& to) {
  if (from.up > to.up && from.names.empty()) return std::vector<std::string>{};
  if (from.up != to.up || from.names.size() > to.names.size()) return std::nullopt;
  const auto ends = std::mismatch(from.names.begin(), from.names.end(), to.names.begin());
  if (ends.first != from.names.end()) return std::nullopt;
  return std::vector<std::string>(ends.second, to.names.end());
}

}  // namespace

std::vector<Group> groups_of(std::string_view cgroup, std::string_view mountinfo) {
  const std::vector<Membership> memberships = read_memberships(cgroup);
  std::vector<Group> groups;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto mount = read_mount(line);
    if (!mount) continue;
    for (const Membership& membership : memberships) {
      Group group;
      group.is_unified = mount->is_unified;
      const auto governs = [&](std::string_view controller) {
        return !mount->is_unified && has_word(mount->controllers, controller) &&
               has_word(membership.controllers, controller);
      };
      group.has_memory = governs("memory");
      group.has_cpu = governs("cpu");
      const bool is_its =
          group.is_unified ? membership.controllers.empty() : group.has_memory || group.has_cpu;
      auto below = way_down(mount->root, membership.path);
      if (!is_its || !below) continue;
      group.mount_point = mount->point;
      group.below = std::move(*below);
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace reprise::server
