// A folder that only this user can read. It is removed at the end.
#pragma once

#include <string>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// Mode 0700. Created in the first of XDG_RUNTIME_DIR, TMPDIR and /tmp that permits it.
class PrivateFolder {
 public:
  /// Creates the folder. Throws std::runtime_error if it cannot be created in any of the three places.
  explicit PrivateFolder(const tools::Lookup& now);
  /// Removes the folder with everything in it.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace reprise::cli
