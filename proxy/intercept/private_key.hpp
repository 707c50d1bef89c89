// A P-256 private key made of its bytes, so that no copy of it stays in ordinary memory: OpenSSL's own
// decoders leave some in what they give back.
#pragma once

#include <span>

#include "proxy/intercept/authority.hpp"

namespace reprise::net {

/// `der`: PKCS #8 (RFC 5208) or ECPrivateKey (RFC 5915). Empty where it is another kind of key, or none.
PrivateKey p256_key_of(std::span<const unsigned char> der);

}  // namespace reprise::net
