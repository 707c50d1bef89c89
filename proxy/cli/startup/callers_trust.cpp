#include "proxy/cli/startup/callers_trust.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "proxy/server/intercept/authority_files.hpp"
#include "proxy/server/intercept/trust.hpp"

namespace reprise::cli {

std::vector<std::string> trust_as_caller(const tools::Variables& named, const std::string& folder) {
  std::vector<std::string> places;
  for (const auto& [name, place] : named) places.push_back(place);
  const server::JoinedCertificates joined = server::join_certificates(places);
  const std::string file = folder + "/roots.pem";
  server::replace_file(file, joined.text);
  ::setenv("SSL_CERT_FILE", file.c_str(), 1);
  std::vector<std::string> warnings;
  for (const auto& [name, place] : named) {
    if (std::find(joined.unread.begin(), joined.unread.end(), place) == joined.unread.end()) continue;
    std::string& warning = warnings.emplace_back(name);
    warning.append(" names ").append(place);
    warning.append(", which has no readable certificate: no certificate is added to the trusted ones");
  }
  return warnings;
}

std::string make_php_folder(const std::string& folder, const std::string& bundle) {
  std::string php = folder + "/php";
  std::filesystem::create_directory(php);
  server::replace_file(php + "/reprise.ini",
                       "curl.cainfo=\"" + bundle + "\"\nopenssl.cafile=\"" + bundle + "\"\n");
  return php;
}

}  // namespace reprise::cli
