// Where the roots lie that are trusted if the configuration names none.
#pragma once

#include <string>
#include <vector>

namespace reprise::net {

/// The places that OpenSSL reads: SSL_CERT_FILE and SSL_CERT_DIR, or its own. Any of them may be missing.
struct RootPlaces {
  std::string file;
  std::vector<std::string> folders;  ///< whose files have the names that OpenSSL looks for, `1234abcd.0`

  /// Returns the file, then the folders.
  std::vector<std::string> all() const;
};
RootPlaces root_places();

}  // namespace reprise::net
