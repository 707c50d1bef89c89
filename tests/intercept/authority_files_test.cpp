// Tests the files of the interception CA: how they are written and checked, and the message for each mistake.
#include "proxy/server/intercept/authority_files.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "proxy/server/intercept/trust.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/own_variable.hpp"

namespace reprise::server {
namespace {

using std::string;

constexpr std::int64_t now = 1'800'000'000;

string content_of(const string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const string& file, const string& content, mode_t mode = 0600) {
  std::ofstream(file, std::ios::binary) << content;
  ::chmod(file.c_str(), mode);
}

/// Returns the message of the error that `work` throws. Empty if none.
string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

class AuthorityFiles : public testing::Test {
 protected:
  AuthorityFiles() {
    settings_.hosts = {{"api.test"}};
    settings_.certificate = folder_.path() + "/ca.pem";
    settings_.key = folder_.path() + "/ca.key";
  }

  /// Writes a key and its certificate, as `ca init` does.
  void make() {
    const PrivateKey key = Authority::make_key();
    write_new_key(settings_.key, key.get());
    certify(key.get());
  }
  void certify(EVP_PKEY* key) {
    PrivateKey same(key);
    EVP_PKEY_up_ref(key);
    const Authority authority(Authority::certify(key, settings_.hosts, now), std::move(same));
    replace_file(settings_.certificate, authority.certificate_text());
  }
  string trouble() const {
    return refusal([this] { load_authority(settings_, "r.yaml", now); });
  }
  void expect_trouble(std::string_view path, std::string_view words) const {
    const string said = trouble();
    EXPECT_TRUE(said.starts_with(path)) << said;
    EXPECT_NE(said.find(words), string::npos) << said;
  }

  play::OwnFolder folder_;
  config::Intercept settings_;
};

TEST_F(AuthorityFiles, written_authority_is_read_back_and_its_files_have_strict_modes) {
  make();
  const auto authority = load_authority(settings_, "r.yaml", now);
  EXPECT_EQ(X509_check_private_key(authority->certificate(), authority->key()), 1);
  struct stat key {
  }, certificate{};
  ASSERT_EQ(::stat(settings_.key.c_str(), &key), 0);
  ASSERT_EQ(::stat(settings_.certificate.c_str(), &certificate), 0);
  EXPECT_EQ(key.st_mode & 0777U, 0600U);
  EXPECT_EQ(certificate.st_mode & 0777U, 0644U);
}

TEST_F(AuthorityFiles, authority_with_an_rsa_key_is_accepted) {
  const PrivateKey rsa(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}));
  write_new_key(settings_.key, rsa.get());
  certify(rsa.get());
  EXPECT_EQ(trouble(), "");
}

TEST_F(AuthorityFiles, error_for_a_missing_file_names_the_command_that_creates_it) {
  expect_trouble("intercept.ca.certificate: ", "create it with reprise ca init -c r.yaml");
  make();
  ::unlink(settings_.key.c_str());
  expect_trouble("intercept.ca.key: ", "create it with reprise ca init -c r.yaml");
}

TEST_F(AuthorityFiles, key_readable_by_others_is_rejected) {
  make();
  ::chmod(settings_.key.c_str(), 0640);
  expect_trouble("intercept.ca.key: ", "chmod 600");
}

TEST_F(AuthorityFiles, malformed_key_or_certificate_is_rejected) {
  make();
  const string certificate = content_of(settings_.certificate);
  for (const char* junk : {"", "junk", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    write(settings_.certificate, junk);
    expect_trouble("intercept.ca.certificate: ", "cannot be used");
  }
  write(settings_.certificate, certificate);
  for (const char* junk : {"", "junk", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
    write(settings_.key, junk);
    expect_trouble("intercept.ca.key: ", "cannot be used");
  }
}

TEST_F(AuthorityFiles, private_key_that_belongs_to_another_certificate_is_rejected) {
  make();
  ::unlink(settings_.key.c_str());
  write_new_key(settings_.key, Authority::make_key().get());
  expect_trouble("intercept.ca.key: ", "does not match the certificate");
  certify(read_key(settings_, "r.yaml").get());
  EXPECT_EQ(trouble(), "") << "as ca renew mends it";
}

TEST_F(AuthorityFiles, expired_authority_is_rejected_and_so_is_a_host_that_it_does_not_cover) {
  make();
  const auto authority = read_authority(settings_, "r.yaml");
  EXPECT_NE(refusal([&] {
              check_authority(*authority, settings_, "r.yaml", now + Authority::lifetime);
            }).find("reprise ca renew -c r.yaml"),
            string::npos);
  settings_.hosts.push_back({"other.test"});
  expect_trouble("intercept.hosts: other.test", "reprise ca renew -c r.yaml");
}

TEST_F(AuthorityFiles, existing_key_is_never_replaced) {
  make();
  const string before = content_of(settings_.key);
  const string said = refusal([this] { write_new_key(settings_.key, Authority::make_key().get()); });
  EXPECT_NE(said.find("already exists and is never replaced"), string::npos) << said;
  EXPECT_EQ(content_of(settings_.key), before);
}

TEST_F(AuthorityFiles, failed_write_is_reported_and_leaves_no_file) {
  const string nowhere = "/proc/no-such-folder/file";
  EXPECT_NE(refusal([&] { write_new_key(nowhere, Authority::make_key().get()); }).find("cannot be written"),
            string::npos);
  EXPECT_NE(refusal([&] { replace_file(nowhere, "x"); }).find("cannot be written"), string::npos);
  const string folder = folder_.path() + "/folder";
  std::filesystem::create_directory(folder);
  EXPECT_NE(refusal([&] { replace_file(folder, "x"); }).find("cannot be written"), string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "no file beside it";
}

/// Replaces the root certificates that OpenSSL trusts, for the life of the object.
struct OwnRoots {
  play::OwnVariable file, folders;
  OwnRoots(const string& its_file, const string& its_folders)
      : file("SSL_CERT_FILE", its_file), folders("SSL_CERT_DIR", its_folders) {}
};

TEST_F(AuthorityFiles, bundle_contains_every_root_once_and_the_authority) {
  make();
  const auto ours = load_authority(settings_, "r.yaml", now);
  const auto root = [] {
    PrivateKey key = Authority::make_key();
    Certificate certificate = Authority::certify(key.get(), {{"root.test"}}, now);
    return Authority(std::move(certificate), std::move(key)).certificate_text();
  };
  const string one = root(), two = root(), three = root();
  const string first = folder_.path() + "/first", second = folder_.path() + "/second";
  for (const string& folder : {first, second}) std::filesystem::create_directory(folder);
  write(folder_.path() + "/roots.pem", one + two + "junk");
  write(first + "/0123abcd.0", two);
  write(first + "/README", three);
  write(first + "/0123abcx.0", three);
  write(second + "/0123abcd.1", three);
  const OwnRoots roots(folder_.path() + "/roots.pem", first + ":" + second);
  const string bundle = folder_.path() + "/made/bundle.pem";
  write_trust(bundle, *ours);
  EXPECT_EQ(content_of(bundle), one + two + three + ours->certificate_text());
  const string store = content_of(truststore_file(bundle));
  EXPECT_FALSE(store.empty());
  write_trust(bundle, *ours);
  EXPECT_EQ(content_of(truststore_file(bundle)), store) << "what is as it has to be is left alone";
  write(bundle, "old");
  write_trust(bundle, *ours);
  EXPECT_EQ(content_of(bundle), one + two + three + ours->certificate_text());
}

TEST_F(AuthorityFiles, certificates_from_several_places_are_merged_without_duplicates) {
  const auto root = [] {
    PrivateKey key = Authority::make_key();
    Certificate certificate = Authority::certify(key.get(), {{"root.test"}}, now);
    return Authority(std::move(certificate), std::move(key)).certificate_text();
  };
  const string one = root(), two = root(), three = root();
  const string base = folder_.path();
  std::filesystem::create_directory(base + "/hashed");
  std::filesystem::create_directory(base + "/plain");
  write(base + "/roots.pem", one);
  write(base + "/more.pem", "junk\n" + two + one);
  write(base + "/hashed/0123abcd.0", three);
  write(base + "/plain/ca.pem", three);
  write(base + "/empty.pem", "");
  write(base + "/again.pem", two);
  const OwnRoots roots(base + "/roots.pem", base + "/nowhere");
  const JoinedCertificates joined =
      join_certificates({base + "/more.pem", base + "/hashed", base + "/again.pem", base + "/plain",
                         base + "/empty.pem", base + "/absent.pem"});
  EXPECT_EQ(joined.text, one + two + three);
  EXPECT_EQ(joined.unread, (std::vector<string>{base + "/plain", base + "/empty.pem", base + "/absent.pem"}));
  EXPECT_EQ(join_certificates({}).text, one);
}

}  // namespace
}  // namespace reprise::server
