#include "proxy/server/intercept/secret_memory.hpp"

#include <openssl/crypto.h>

#include <new>

namespace reprise::server {
namespace {

constexpr std::size_t arena = std::size_t{256} * 1024;
constexpr std::size_t smallest = 16;

}  // namespace

bool reserve_secret_memory() {
  // OpenSSL maps the memory with guard pages, locks it, and marks it MADV_DONTDUMP. The result 2 means that
  // locking failed.
  static const int outcome = CRYPTO_secure_malloc_init(arena, smallest);
  return outcome == 1;
}

SecretBytes::SecretBytes(std::size_t room)
    : bytes_(static_cast<char*>(OPENSSL_secure_zalloc(room))), room_(room) {
  if (bytes_ == nullptr) throw std::bad_alloc();
}

SecretBytes::~SecretBytes() { OPENSSL_secure_clear_free(bytes_, room_); }

}  // namespace reprise::server
