// A folder that nobody else can look into, and that is gone at the end.
#pragma once

#include <string>

#include "proxy/tools/environment/client_environment.hpp"

namespace reprise::cli {

/// 0700, under XDG_RUNTIME_DIR, TMPDIR or /tmp, the first of them in which one can be made.
class PrivateFolder {
 public:
  /// Throws std::runtime_error.
  explicit PrivateFolder(const tools::Lookup& now);
  /// With everything in it.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace reprise::cli
