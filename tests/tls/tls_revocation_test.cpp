// Tests which OCSP responses revoke a certificate and which have no effect.
#include "proxy/net/tls/tls_revocation.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "tests/support/tls_authority.hpp"

namespace reprise::net {
namespace {

using play::OcspResponse;
using play::Timely;
using play::TlsAuthority;
using play::TlsIdentity;

constexpr long serial = 7;
constexpr OcspResponse revoked{serial};
constexpr long beyond_skew = 400;
constexpr long within_skew = 200;

class TlsRevocationTest : public ::testing::Test {
 protected:
  TlsRevocationTest() {
    X509_STORE_add_cert(trusted_.get(), authority_.certificate());
    for (X509* const one : {leaf_.certificate.get(), authority_.certificate()})
      OPENSSL_sk_push(chain_.get(), one);
  }

  bool revoked_by(const std::string& response) const {
    const std::span text(reinterpret_cast<const unsigned char*>(response.data()), response.size());
    return reports_revoked(text, reinterpret_cast<stack_st_X509*>(chain_.get()), trusted_.get());
  }
  bool responded(const OcspResponse& response) const { return revoked_by(authority_.response({response})); }

  TlsAuthority authority_;
  TlsIdentity leaf_ = authority_.issue(serial);
  std::unique_ptr<X509_STORE, decltype([](X509_STORE* store) { X509_STORE_free(store); })> trusted_{
      X509_STORE_new()};
  std::unique_ptr<OPENSSL_STACK, decltype([](OPENSSL_STACK* stack) { OPENSSL_sk_free(stack); })> chain_{
      OPENSSL_sk_new_null()};
};

TEST_F(TlsRevocationTest, F5_ocsp_response_of_the_issuer_can_revoke_a_certificate) {
  EXPECT_TRUE(responded(revoked));
  EXPECT_TRUE(responded({serial, V_OCSP_CERTSTATUS_REVOKED, {}, EVP_sha256()})) << "named by another hash";
  EXPECT_TRUE(revoked_by(authority_.response({{serial + 1}, {serial, V_OCSP_CERTSTATUS_GOOD}, revoked})));
}

TEST_F(TlsRevocationTest, ocsp_response_of_an_authorised_responder_can_revoke_a_certificate) {
  const TlsIdentity responder = authority_.issue(2, "OCSPSigning");
  EXPECT_TRUE(revoked_by(authority_.response({revoked}, &responder)));
}

TEST_F(TlsRevocationTest, certificate_is_accepted_unless_the_response_says_that_it_is_revoked) {
  EXPECT_FALSE(responded({serial, V_OCSP_CERTSTATUS_GOOD}));
  EXPECT_FALSE(responded({serial, V_OCSP_CERTSTATUS_UNKNOWN}));
  EXPECT_FALSE(responded({serial + 1})) << "another certificate";
  EXPECT_FALSE(revoked_by(authority_.response({})));
}

TEST_F(TlsRevocationTest, response_of_an_unauthorised_responder_is_ignored) {
  const TlsIdentity server = authority_.issue(2);
  EXPECT_FALSE(revoked_by(authority_.response({revoked}, &server)));
  EXPECT_FALSE(revoked_by(TlsAuthority().response({revoked}))) << "another authority of the same name";
  const TlsIdentity others = TlsAuthority().issue(2, "OCSPSigning");
  EXPECT_FALSE(revoked_by(authority_.response({revoked}, &others)));
}

TEST_F(TlsRevocationTest, outdated_response_is_ignored) {
  const auto at = [](Timely timely) { return OcspResponse{serial, V_OCSP_CERTSTATUS_REVOKED, timely}; };
  EXPECT_FALSE(responded(at({-3600, -beyond_skew})));
  EXPECT_TRUE(responded(at({-3600, -within_skew}))) << "clocks differ";
  EXPECT_FALSE(responded(at({beyond_skew, 3600})));
  EXPECT_TRUE(responded(at({within_skew, 3600})));
}

TEST_F(TlsRevocationTest, malformed_response_is_ignored_and_leaves_no_error_in_the_openssl_queue) {
  const std::string whole = authority_.response({revoked});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(revoked_by(whole.substr(0, bytes))) << bytes;
  EXPECT_FALSE(revoked_by(std::string("\x30\x03\x0a\x01\x03", 5))) << "try later";
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string other = whole;
    other[place] = static_cast<char>(other[place] ^ 0x20);
    static_cast<void>(revoked_by(other));
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST_F(TlsRevocationTest, self_signed_certificate_cannot_be_revoked) {
  const std::string response = authority_.response({revoked});
  OPENSSL_sk_pop(chain_.get());
  EXPECT_FALSE(revoked_by(response));
  chain_.reset();
  EXPECT_FALSE(revoked_by(response));
}

TEST_F(TlsRevocationTest, earlier_error_in_the_openssl_queue_is_preserved) {
  ERR_raise(ERR_LIB_USER, 1);
  EXPECT_FALSE(revoked_by("junk"));
  EXPECT_EQ(ERR_GET_LIB(ERR_get_error()), ERR_LIB_USER);
  EXPECT_EQ(ERR_get_error(), 0U);
}

}  // namespace
}  // namespace reprise::net
