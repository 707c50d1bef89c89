// A temporary folder that only this user can access. The destructor removes it.
#pragma once

#include <string>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// A folder with mode 0700. Its parent folder is the first of XDG_RUNTIME_DIR, TMPDIR and /tmp where a folder
/// can be created.
class PrivateFolder {
 public:
  /// Creates the folder. Throws std::runtime_error if no folder can be created.
  explicit PrivateFolder(const tools::Lookup& now);
  /// Removes the folder and its content.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace reprise::cli
