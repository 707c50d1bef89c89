// Keys that have a new name; the old name is still read for one release, with a warning.
#pragma once

#include <array>
#include <string_view>

namespace reprise::config {

/// The old and the new path of a renamed key, in the form of the key table. Only their last parts differ.
struct RenamedKey {
  std::string_view old_path;
  std::string_view path;
};

inline constexpr std::array renamed_keys{RenamedKey{"limits.kept_answer", "limits.kept_response"}};

}  // namespace reprise::config
