#include "proxy/net/tls/root_places.hpp"

#include <openssl/x509.h>

#include <cstdlib>

namespace reprise::net {
namespace {

std::string place(const char* variable, const char* standard) {
  const char* const set = std::getenv(variable);
  return set == nullptr ? standard : set;
}

}  // namespace

std::vector<std::string> RootPlaces::all() const {
  std::vector<std::string> all{file};
  all.insert(all.end(), folders.begin(), folders.end());
  return all;
}

RootPlaces root_places() {
  RootPlaces places{place(X509_get_default_cert_file_env(), X509_get_default_cert_file()), {}};
  std::string folders = place(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    if (colon != 0) places.folders.push_back(folders.substr(0, colon));
    folders.erase(0, colon == std::string::npos ? colon : colon + 1);
  }
  return places;
}

}  // namespace reprise::net
