// Tests the messages about certificate and key files that cannot be used.
#include "proxy/net/tls/tls_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/own_folder.hpp"

namespace reprise::net {
namespace {

class TlsFilesTest : public ::testing::Test {
 protected:
  std::string file() const { return folder_.path() + "/file"; }
  std::string trouble(std::string_view text, TlsFile kind) const {
    std::ofstream(file()) << text;
    return trouble_with(file(), kind, "my.pem");
  }

  play::OwnFolder folder_;
};

constexpr std::string_view certificate = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n";
constexpr std::string_view key = "-----BEGIN PRIVATE KEY-----\nMII=\n-----END PRIVATE KEY-----\n";

TEST_F(TlsFilesTest, error_names_the_expected_and_the_actual_content) {
  const std::string none =
      "it contains no certificate: the file must be PEM, with a line -----BEGIN CERTIFICATE-----";
  EXPECT_EQ(trouble("", TlsFile::certificate), none + "; the file is empty");
  EXPECT_EQ(trouble("0\x82", TlsFile::trusted), none) << "DER, or anything";
  EXPECT_EQ(trouble(key, TlsFile::certificate), none + "; this file contains a private key");
  EXPECT_EQ(trouble("-----BEGIN X509 CRL-----\n", TlsFile::trusted),
            none + "; this file contains something else");
  EXPECT_EQ(trouble(certificate, TlsFile::key),
            "it contains no private key: the file must be PEM, with a line -----BEGIN PRIVATE KEY-----; this "
            "file contains something else");
}

TEST_F(TlsFilesTest, encrypted_key_is_distinguished_from_a_mismatched_key) {
  const std::string locked = trouble(
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMII=\n-----END ENCRYPTED PRIVATE KEY-----\n", TlsFile::key);
  EXPECT_NE(locked.find("the key is encrypted"), std::string::npos) << locked;
  EXPECT_NE(locked.find("openssl pkey -in FILE -out NEW"), std::string::npos) << locked;
  EXPECT_EQ(trouble(key, TlsFile::key),
            "it does not belong to the certificate my.pem: use the private key for which that certificate "
            "was issued");
}

TEST_F(TlsFilesTest, special_and_oversized_files_are_not_read) {
  EXPECT_EQ(trouble_with(folder_.path(), TlsFile::key), "it is a folder");
  EXPECT_EQ(trouble_with(file(), TlsFile::key), "No such file or directory");
  EXPECT_EQ(trouble_with("/dev/zero", TlsFile::trusted), "it is not a regular file") << "it has no end";
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_EQ(trouble_with(file(), TlsFile::key), "it is a pipe: save its content in a regular file");
  ASSERT_EQ(::unlink(file().c_str()), 0);
  std::ofstream(file()) << certificate;
  EXPECT_EQ(trouble_with_kind(file()), "");
  ASSERT_EQ(::truncate(file().c_str(), 16 * 1024 * 1024 + 1), 0);
  EXPECT_EQ(trouble_with(file(), TlsFile::certificate), "it is larger than 16 MiB");
}

}  // namespace
}  // namespace reprise::net
