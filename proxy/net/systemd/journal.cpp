#include "proxy/net/systemd/journal.hpp"

#include <sys/stat.h>

#include <string>

namespace reprise::net {

bool is_journal_stream(const Environment& environment, int descriptor) {
  const std::optional<std::string> named = environment("JOURNAL_STREAM");
  if (!named) return false;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  return *named == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

}  // namespace reprise::net
