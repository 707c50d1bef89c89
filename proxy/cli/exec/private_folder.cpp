#include "proxy/cli/exec/private_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace reprise::cli {

PrivateFolder::PrivateFolder(const tools::Lookup& now) {
  int why = 0;
  for (const auto& base : {now("XDG_RUNTIME_DIR"), now("TMPDIR"), std::optional<std::string>("/tmp")}) {
    if (!base || !base->starts_with('/')) continue;
    std::string name = *base + "/reprise-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) {
      path_ = name;
      return;
    }
    why = errno;
  }
  throw std::runtime_error("cannot create a private folder under XDG_RUNTIME_DIR, TMPDIR or /tmp: " +
                           std::generic_category().message(why));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace reprise::cli
