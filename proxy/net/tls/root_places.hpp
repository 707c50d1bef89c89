// The locations of the root certificates that are trusted if the configuration names none.
#pragma once

#include <string>
#include <vector>

namespace reprise::net {

/// The locations from which OpenSSL reads: SSL_CERT_FILE and SSL_CERT_DIR, or its defaults. Any of these may
/// be missing.
struct RootPlaces {
  std::string file;
  std::vector<std::string> folders;  ///< folders of files with OpenSSL's hashed names, such as `1234abcd.0`

  /// Returns the file, then the folders.
  std::vector<std::string> all() const;
};
RootPlaces root_places();

}  // namespace reprise::net
