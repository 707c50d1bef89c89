#include "proxy/server/intercept/trust.hpp"

#include <openssl/bio.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/root_places.hpp"
#include "proxy/server/intercept/authority_files.hpp"

namespace reprise::server {
namespace {

// Java's attribute for a trusted key usage. Java ignores entries without this attribute, and accepts any
// usage as its value.
constexpr const char* java_trusted = "2.16.840.1.113894.746875.1.1";
constexpr int iterations = 2048;

std::string der_of(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

/// Collects certificates without duplicates.
class Roots {
 public:
  /// Adds the certificates of a file. Returns true if the file holds a certificate.
  bool add_file(const std::string& file) {
    bool any = false;
    const std::unique_ptr<BIO, decltype(&BIO_free)> opened(BIO_new_file(file.c_str(), "r"), BIO_free);
    while (opened != nullptr) {
      Certificate next(PEM_read_bio_X509_AUX(opened.get(), nullptr, nullptr, nullptr));
      if (next == nullptr) break;
      any = true;
      if (seen_.insert(der_of(next.get())).second) found_.push_back(std::move(next));
    }
    static_cast<void>(net::tls_words());
    return any;
  }

  // Adds the files with OpenSSL's hashed names, such as `1234abcd.0`. Returns true if one of them holds a
  // certificate.
  bool add_folder(const std::string& folder) {
    bool any = false;
    std::error_code ignored;
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      constexpr std::size_t hash = 8;
      const bool is_hash = name.size() > hash + 1 && name[hash] == '.' &&
                           std::all_of(name.begin(), name.begin() + hash,
                                       [](unsigned char c) { return std::isxdigit(c) != 0; }) &&
                           std::all_of(name.begin() + hash + 1, name.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
      if (is_hash) files.insert(entry.path().string());
    }
    for (const std::string& file : files) any = add_file(file) || any;
    return any;
  }

  std::vector<Certificate> take() { return std::move(found_); }

 private:
  std::set<std::string> seen_;
  std::vector<Certificate> found_;
};

std::string text_of(BIO* memory) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(const std::vector<Certificate>& certificates) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  for (const Certificate& certificate : certificates) {
    if (memory == nullptr || PEM_write_bio_X509(memory.get(), certificate.get()) != 1)
      throw std::runtime_error("a bundle cannot be made: " + net::tls_words());
  }
  return text_of(memory.get());
}

struct FreeStore {
  void operator()(PKCS12* store) const { PKCS12_free(store); }
  void operator()(STACK_OF(PKCS12_SAFEBAG) * bags) const {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
  }
  void operator()(STACK_OF(PKCS7) * safes) const { sk_PKCS7_pop_free(safes, PKCS7_free); }
};

[[noreturn]] void fail() { throw std::runtime_error("a truststore cannot be made: " + net::tls_words()); }

void add_trusted(STACK_OF(PKCS12_SAFEBAG) * *bags, X509* certificate, const std::string& name) {
  static const int kind = [] {
    const int known = OBJ_txt2nid(java_trusted);
    return known == NID_undef ? OBJ_create(java_trusted, "javaTrusted", "Java trusted key usage") : known;
  }();
  ASN1_OBJECT* const any = OBJ_nid2obj(NID_anyExtendedKeyUsage);
  PKCS12_SAFEBAG* const bag = PKCS12_add_cert(bags, certificate);
  const bool added =
      bag != nullptr && PKCS12_add_friendlyname_utf8(bag, name.c_str(), -1) == 1 &&
      PKCS12_add1_attr_by_NID(bag, kind, V_ASN1_OBJECT, reinterpret_cast<unsigned char*>(any), -1) == 1;
  if (!added) fail();
}

}  // namespace

JoinedCertificates join_certificates(const std::vector<std::string>& places) {
  Roots roots;
  JoinedCertificates joined;
  roots.add_file(net::root_places().file);
  for (const std::string& place : places) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(place, ignored);
    if (!(is_folder ? roots.add_folder(place) : roots.add_file(place))) joined.unread.push_back(place);
  }
  joined.text = pem_of(roots.take());
  return joined;
}

std::vector<Certificate> system_roots() {
  Roots roots;
  const net::RootPlaces places = net::root_places();
  roots.add_file(places.file);
  for (const std::string& folder : places.folders) roots.add_folder(folder);
  return roots.take();
}

std::string bundle_text(const std::vector<Certificate>& roots, const Authority& authority) {
  return pem_of(roots) + authority.certificate_text();
}

std::string truststore_bytes(const std::vector<Certificate>& roots, const Authority& authority) {
  STACK_OF(PKCS12_SAFEBAG)* list = nullptr;
  // Aliases must be unique in a store.
  for (std::size_t i = 0; i < roots.size(); ++i)
    add_trusted(&list, roots[i].get(), "root-" + std::to_string(i));
  add_trusted(&list, authority.certificate(), "reprise");
  const std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), FreeStore> bags(list);
  STACK_OF(PKCS7)* safe_list = nullptr;
  // Uses an old algorithm, which every Java version of legacy applications can read. The algorithm need not
  // be strong: the password and the certificates are public.
  const int added = PKCS12_add_safe(&safe_list, bags.get(), NID_pbe_WithSHA1And3_Key_TripleDES_CBC,
                                    iterations, truststore_password);
  const std::unique_ptr<STACK_OF(PKCS7), FreeStore> safes(safe_list);
  if (added != 1) fail();
  const std::unique_ptr<PKCS12, FreeStore> store(PKCS12_add_safes(safes.get(), 0));
  if (store == nullptr ||
      PKCS12_set_mac(store.get(), truststore_password, -1, nullptr, 0, iterations, EVP_sha1()) != 1)
    fail();
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  if (memory == nullptr || i2d_PKCS12_bio(memory.get(), store.get()) != 1) fail();
  return text_of(memory.get());
}

std::string truststore_file(const std::string& bundle) {
  return std::filesystem::path(bundle).replace_extension(".p12").string();
}

void write_trust(const std::string& bundle, const Authority& authority) {
  const std::vector<Certificate> roots = system_roots();
  const std::string wanted = bundle_text(roots, authority);
  std::ifstream file(bundle, std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  const std::string store = truststore_file(bundle);
  if (there == wanted && std::filesystem::exists(store)) return;
  // The bundle is written after the truststore. So an up-to-date bundle means that the truststore is up to
  // date too.
  replace_file(store, truststore_bytes(roots, authority));
  replace_file(bundle, wanted);
}

}  // namespace reprise::server
