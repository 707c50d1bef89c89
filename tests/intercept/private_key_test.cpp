#include "proxy/intercept/private_key.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <string>
#include <vector>

namespace reprise::net {
namespace {

using Der = std::vector<unsigned char>;

Der pkcs8(EVP_PKEY* key) {
  const std::unique_ptr<PKCS8_PRIV_KEY_INFO, decltype(&PKCS8_PRIV_KEY_INFO_free)> made(
      EVP_PKEY2PKCS8(key), PKCS8_PRIV_KEY_INFO_free);
  unsigned char* bytes = nullptr;
  const int size = i2d_PKCS8_PRIV_KEY_INFO(made.get(), &bytes);
  Der der(bytes, bytes + size);
  OPENSSL_free(bytes);
  return der;
}

Der sec1(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PrivateKey(key, &bytes);
  Der der(bytes, bytes + size);
  OPENSSL_free(bytes);
  return der;
}

/// Where its 32 bytes begin.
std::size_t scalar_in(const Der& der) {
  for (std::size_t at = 2; at < der.size(); ++at) {
    if (der[at - 2] == 0x04 && der[at - 1] == 32) return at;
  }
  return 0;
}

TEST(PrivateKey, both_spellings_are_the_same_key) {
  for (int turn = 0; turn < 20; ++turn) {
    const PrivateKey key = Authority::make_key();
    for (const Der& der : {pkcs8(key.get()), sec1(key.get())}) {
      const PrivateKey read = p256_key_of(der);
      ASSERT_NE(read, nullptr);
      EXPECT_EQ(EVP_PKEY_eq(read.get(), key.get()), 1) << "its public half";
      EXPECT_EQ(sec1(read.get()), sec1(key.get())) << "and its secret one";
    }
  }
}

TEST(PrivateKey, a_part_of_one_is_none) {
  const PrivateKey key = Authority::make_key();
  for (const Der& der : {pkcs8(key.get()), sec1(key.get())}) {
    for (std::size_t size = 0; size < der.size(); ++size)
      EXPECT_EQ(p256_key_of({der.data(), size}), nullptr) << size;
  }
}

TEST(PrivateKey, no_byte_of_it_makes_another_read_beyond_its_end) {
  const PrivateKey key = Authority::make_key();
  for (const Der& der : {pkcs8(key.get()), sec1(key.get())}) {
    for (std::size_t at = 0; at < der.size(); ++at) {
      for (const unsigned char wrong : Der{0x00, 0x7f, 0x80, 0x81, 0x82, 0x83, 0xff}) {
        Der changed = der;
        changed[at] = wrong;
        const PrivateKey read = p256_key_of(changed);
        EXPECT_TRUE(read == nullptr || EVP_PKEY_get_bits(read.get()) == 256);
      }
    }
  }
}

TEST(PrivateKey, a_number_that_is_no_key_is_refused) {
  const PrivateKey key = Authority::make_key();
  for (const unsigned char filling : Der{0x00, 0xff}) {
    Der der = pkcs8(key.get());
    const std::size_t at = scalar_in(der);
    ASSERT_NE(at, 0U);
    std::fill_n(der.begin() + static_cast<std::ptrdiff_t>(at), 32, filling);
    EXPECT_EQ(p256_key_of(der), nullptr) << int{filling};
  }
}

TEST(PrivateKey, another_kind_is_left_to_others) {
  const PrivateKey p384(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384"));
  const PrivateKey rsa(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}));
  const PrivateKey ed(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  for (EVP_PKEY* other : {p384.get(), rsa.get(), ed.get()}) EXPECT_EQ(p256_key_of(pkcs8(other)), nullptr);
  EXPECT_EQ(p256_key_of(sec1(p384.get())), nullptr);
}

}  // namespace
}  // namespace reprise::net
