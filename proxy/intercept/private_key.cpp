#include "proxy/intercept/private_key.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace reprise::net {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr unsigned char integer = 0x02, octet_string = 0x04, sequence = 0x30, parameters = 0xa0;
constexpr std::size_t scalar_size = 32;
constexpr auto p256 =
    std::to_array<unsigned char>({0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07});
constexpr auto key_on_a_curve =
    std::to_array<unsigned char>({0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01});

/// One value of DER, up to 64 KiB, which leaves what it was read from. Nothing where another tag is next.
std::optional<Bytes> take(Bytes& from, unsigned char tag) {
  if (from.size() < 2 || from[0] != tag) return std::nullopt;
  std::size_t length = from[1], head = 2;
  if (length == 0x81 && from.size() > 2) {
    length = from[2];
    head = 3;
  } else if (length == 0x82 && from.size() > 3) {
    length = from[2] * 256U + from[3];
    head = 4;
  } else if (length > 0x7f) {
    return std::nullopt;
  }
  if (from.size() - head < length) return std::nullopt;
  const Bytes value = from.subspan(head, length);
  from = from.subspan(head + length);
  return value;
}

bool begins_with(Bytes bytes, Bytes with) {
  return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin());
}

// The scalar of an ECPrivateKey. `known`: that it is of P-256 was said around it.
std::optional<Bytes> scalar_of(Bytes der, bool known) {
  auto inside = take(der, sequence);
  if (!inside || !take(*inside, integer)) return std::nullopt;
  const auto scalar = take(*inside, octet_string);
  if (!scalar || scalar->size() != scalar_size) return std::nullopt;
  if (!known) {
    const auto curve = take(*inside, parameters);
    if (!curve || !begins_with(*curve, p256)) return std::nullopt;
  }
  return scalar;
}

std::optional<Bytes> scalar_in(Bytes der) {
  Bytes rest = der;
  auto inside = take(rest, sequence);
  if (!inside || !take(*inside, integer)) return std::nullopt;
  const auto algorithm = take(*inside, sequence);
  if (!algorithm) return scalar_of(der, false);
  const bool is_p256 =
      begins_with(*algorithm, key_on_a_curve) && begins_with(algorithm->subspan(key_on_a_curve.size()), p256);
  const auto wrapped = take(*inside, octet_string);
  return is_p256 && wrapped ? scalar_of(*wrapped, true) : std::nullopt;
}

template <typename T, void (*Free)(T*)>
struct Freed {
  void operator()(T* some) const { Free(some); }
};
template <typename T, void (*Free)(T*)>
using Owned = std::unique_ptr<T, Freed<T, Free>>;

// Uncompressed, as SEC 1 writes it; empty where the number is no private key.
std::array<unsigned char, 2 * scalar_size + 1> public_half(const BIGNUM* number, bool& ok) {
  std::array<unsigned char, 2 * scalar_size + 1> bytes{};
  const Owned<EC_GROUP, EC_GROUP_free> group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const Owned<EC_POINT, EC_POINT_free> point(EC_POINT_new(group.get()));
  const Owned<BN_CTX, BN_CTX_free> scratch(BN_CTX_secure_new());
  ok = group != nullptr && point != nullptr && scratch != nullptr && BN_is_zero(number) == 0 &&
       BN_cmp(number, EC_GROUP_get0_order(group.get())) < 0 &&
       EC_POINT_mul(group.get(), point.get(), number, nullptr, nullptr, scratch.get()) == 1 &&
       EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, bytes.data(), bytes.size(),
                          scratch.get()) == bytes.size();
  return bytes;
}

}  // namespace

PrivateKey p256_key_of(std::span<const unsigned char> der) {
  const auto scalar = scalar_in(der);
  if (!scalar) return nullptr;
  const Owned<BIGNUM, BN_clear_free> number(BN_secure_new());
  if (number == nullptr || BN_bin2bn(scalar->data(), scalar_size, number.get()) == nullptr) return nullptr;
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  bool ok = false;
  const auto shown = public_half(number.get(), ok);
  const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  ok = ok && builder != nullptr &&
       OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
       OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get()) == 1 &&
       OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, shown.data(), shown.size()) ==
           1;
  if (!ok) return nullptr;
  const Owned<OSSL_PARAM, OSSL_PARAM_free> described(OSSL_PARAM_BLD_to_param(builder.get()));
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> maker(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  if (maker == nullptr || EVP_PKEY_fromdata_init(maker.get()) != 1 ||
      EVP_PKEY_fromdata(maker.get(), &key, EVP_PKEY_KEYPAIR, described.get()) != 1)
    return nullptr;
  return PrivateKey(key);
}

}  // namespace reprise::net
