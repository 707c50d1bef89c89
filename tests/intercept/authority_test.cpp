// Tests that the interception CA is valid only for its hosts, and that a CA without such limits is rejected.
#include "proxy/server/intercept/authority.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "proxy/net/tls/tls_link.hpp"
#include "proxy/server/intercept/leaves.hpp"
#include "proxy/server/intercept/secret_memory.hpp"
#include "proxy/server/intercept/trust.hpp"

namespace reprise::server::authority_test {
namespace {

constexpr std::int64_t now = 1'800'000'000;
const std::vector<policy::HostPattern> hosts{{"api.test"}, {"*.wild.test"}};

std::shared_ptr<const Authority> made(std::int64_t when = now) {
  PrivateKey key = Authority::make_key();
  Certificate certificate = Authority::certify(key.get(), hosts, when);
  return std::make_shared<const Authority>(std::move(certificate), std::move(key));
}

/// Returns OpenSSL's result of verifying a leaf certificate for the given host and time, if only `authority`
/// is trusted.
int verdict(X509* leaf, const Authority& authority, std::int64_t when, const char* host) {
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(), X509_STORE_free);
  X509_STORE_add_cert(store.get(), authority.certificate());
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                              X509_STORE_CTX_free);
  X509_STORE_CTX_init(check.get(), store.get(), leaf, nullptr);
  X509_VERIFY_PARAM* const demands = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_flags(demands, X509_V_FLAG_X509_STRICT);
  X509_VERIFY_PARAM_set_time(demands, when);
  X509_VERIFY_PARAM_set1_host(demands, host, 0);
  X509_verify_cert(check.get());
  return X509_STORE_CTX_get_error(check.get());
}

X509* certificate_of(const Leaf& leaf) { return SSL_CTX_get0_certificate(leaf.server->settings()); }

TEST(Authority, authority_certifies_only_its_permitted_hosts) {
  const auto authority = made();
  EXPECT_EQ(authority->trouble(now), "");
  EXPECT_EQ(authority->permitted(), (std::vector<std::string>{"api.test", "*.wild.test"}));
  EXPECT_EQ(authority->first_outside(hosts), "");
  EXPECT_EQ(authority->first_outside({{"API.test"}, {"a.wild.test"}, {"*.a.wild.test"}}), "");
  EXPECT_EQ(authority->first_outside({{"api.test"}, {"other.test"}}), "other.test");
  EXPECT_EQ(authority->first_outside({{"wild.test"}}), "wild.test");
  EXPECT_EQ(authority->first_outside({{"*.test"}}), "*.test");
  for (const char* host : {"api.test", "a.wild.test"})
    EXPECT_EQ(verdict(certificate_of(authority->issue(host, now)), *authority, now, host), X509_V_OK) << host;
  for (const char* host : {"other.test", "wild.test"})
    EXPECT_EQ(verdict(certificate_of(authority->issue(host, now)), *authority, now, host),
              X509_V_ERR_PERMITTED_VIOLATION)
        << host;
}

TEST(Authority, no_certificate_is_issued_for_an_invalid_host_name) {
  const auto authority = made();
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a..b"), std::string(".a"),
                                  std::string("a."), std::string("a\nDNS:b"), std::string("a,DNS:b"),
                                  std::string("A"), std::string(254, 'a'), std::string("[::1]")})
    EXPECT_THROW(static_cast<void>(authority->issue(name, now)), std::runtime_error) << name;
  EXPECT_NO_THROW(static_cast<void>(authority->issue(std::string(200, 'a'), now)));
}

TEST(Authority, leaf_certificates_are_short_lived_and_never_outlive_the_authority) {
  const auto authority = made();
  const Leaf leaf = authority->issue("api.test", now);
  EXPECT_GT(leaf.renew_at, now + 5 * 24 * 3600);
  EXPECT_LT(leaf.renew_at, now + Authority::leaf_lifetime);
  EXPECT_EQ(verdict(certificate_of(leaf), *authority, now + Authority::leaf_lifetime + 1, "api.test"),
            X509_V_ERR_CERT_HAS_EXPIRED);
  const std::int64_t late = authority->expires() - 60;
  const Leaf last = authority->issue("api.test", late);
  EXPECT_GT(last.renew_at, late);
  EXPECT_EQ(X509_cmp_time(X509_get0_notAfter(certificate_of(last)), nullptr) != 0, true);
  EXPECT_EQ(ASN1_TIME_compare(X509_get0_notAfter(certificate_of(last)),
                              X509_get0_notAfter(authority->certificate())),
            0);
}

TEST(Authority, leaf_certificate_is_not_used_if_the_clock_is_set_back_before_its_start) {
  const auto authority = made();
  const Leaf leaf = authority->issue("api.test", now);
  EXPECT_TRUE(leaf.is_good(now));
  EXPECT_TRUE(leaf.is_good(leaf.renew_at - 1));
  EXPECT_FALSE(leaf.is_good(leaf.renew_at));
  for (const std::int64_t earlier : {now - 60, now - 24 * 3600}) {
    const bool holds = verdict(certificate_of(leaf), *authority, earlier, "api.test") == X509_V_OK;
    EXPECT_EQ(leaf.is_good(earlier), holds) << now - earlier << " s earlier";
  }
}

TEST(Authority, expired_and_not_yet_valid_authorities_are_reported) {
  const auto authority = made();
  EXPECT_EQ(authority->expires(), now + Authority::lifetime);
  EXPECT_EQ(authority->trouble(now + Authority::lifetime), "has expired");
  EXPECT_EQ(authority->trouble(now - 2 * 3600), "is not valid yet");
}

/// Returns an authority with one extension replaced. `value` is in the syntax of openssl's configuration.
/// Removes the extension if `value` is empty.
Authority odd(int kind, const char* value) {
  const auto good = made();
  Certificate copy(X509_dup(good->certificate()));
  X509_EXTENSION_free(X509_delete_ext(copy.get(), X509_get_ext_by_NID(copy.get(), kind, -1)));
  if (*value != '\0') {
    X509_EXTENSION* const other = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(copy.get(), other, -1);
    X509_EXTENSION_free(other);
  }
  EVP_PKEY_up_ref(good->key());
  X509_sign(copy.get(), good->key(), EVP_sha256());
  return {std::move(copy), PrivateKey(good->key())};
}

TEST(Authority, ca_certificate_with_missing_or_too_wide_constraints_is_rejected) {
  const std::string addresses = ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
  const std::string names = "critical,permitted;DNS:api.test";
  EXPECT_EQ(odd(NID_name_constraints, (names + addresses).c_str()).trouble(now), "");
  const auto refused = [](int kind, const std::string& value, const char* words) {
    EXPECT_NE(odd(kind, value.c_str()).trouble(now).find(words), std::string::npos) << value;
  };
  refused(NID_name_constraints, "", "has no critical nameConstraints");
  refused(NID_name_constraints, "permitted;DNS:api.test" + addresses, "has no critical nameConstraints");
  refused(NID_name_constraints, "critical" + addresses, "has no critical nameConstraints");
  refused(NID_name_constraints, "critical,permitted;DNS:api.test,permitted;email:a.test" + addresses,
          "has no critical nameConstraints");
  refused(NID_name_constraints, names, "does not exclude IP addresses");
  refused(NID_name_constraints, names + ",excluded;IP:0.0.0.0/0.0.0.0", "does not exclude IP addresses");
  refused(NID_name_constraints, names + ",excluded;IP:10.0.0.0/255.0.0.0", "does not exclude IP addresses");
  refused(NID_basic_constraints, "critical,CA:FALSE", "is not a CA certificate");
  EXPECT_EQ(odd(NID_name_constraints, "").first_outside(hosts), "api.test");
  EXPECT_TRUE(odd(NID_name_constraints, "").permitted().empty());
}

TEST(Trust, bundle_and_truststore_contain_the_authority) {
  const auto authority = made();
  const std::vector<Certificate> none;
  EXPECT_EQ(bundle_text(none, *authority), authority->certificate_text());
  EXPECT_FALSE(truststore_bytes(none, *authority).empty());
  EXPECT_EQ(truststore_file("/a/b.pem"), "/a/b.p12");
}

TEST(SecretMemory, secret_buffer_is_zero_initialized_and_keeps_its_size) {
  static_cast<void>(reserve_secret_memory());
  SecretBytes bytes(32);
  bytes.data()[0] = 'x';
  EXPECT_EQ(bytes.text(2), std::string_view("x\0", 2));
  EXPECT_EQ(bytes.room(), 32U);
}

TEST(Leaves, leaf_certificates_are_cached_and_the_least_recently_used_is_evicted) {
  boost::asio::io_context io;
  Leaves leaves(made(net::Clock::wall_nanoseconds() / 1'000'000'000), hosts, 2);
  const auto ask = [&](const std::string& name) {
    std::string why;
    bool found = false;
    io.restart();
    boost::asio::co_spawn(
        io,
        [&]() -> Task<void> {
          const auto accept = co_await leaves.certificate_for(name, io.get_executor(), why);
          found = static_cast<bool>(accept);
        },
        boost::asio::detached);
    while (io.run_one_for(std::chrono::seconds(60)) > 0 && !found && why.empty()) {
    }
    EXPECT_NE(found, !why.empty());
    return found;
  };
  EXPECT_TRUE(ask("api.test"));
  EXPECT_TRUE(ask("API.test"));
  EXPECT_TRUE(ask("a.wild.test"));
  EXPECT_TRUE(ask("b.wild.test"));
  EXPECT_TRUE(ask("api.test"));
  EXPECT_FALSE(ask("no host name"));
  EXPECT_EQ(leaves.hosts().size(), 2U);
}

}  // namespace
}  // namespace reprise::server::authority_test
