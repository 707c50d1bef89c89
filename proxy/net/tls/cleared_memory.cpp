#include "proxy/net/tls/cleared_memory.hpp"

#include <malloc.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace reprise::net {
namespace {

void* take(std::size_t size, const char* /*file*/, int /*line*/) { return std::malloc(size); }

void give_back(void* memory, const char* /*file*/, int /*line*/) {
  if (memory == nullptr) return;
  ::explicit_bzero(memory, ::malloc_usable_size(memory));
  std::free(memory);
}

// Does not call realloc, because realloc may move the memory and leave the old bytes behind.
void* resize(void* memory, std::size_t size, const char* file, int line) {
  if (memory == nullptr) return take(size, file, line);
  if (size == 0) {
    give_back(memory, file, line);
    return nullptr;
  }
  const std::size_t had = ::malloc_usable_size(memory);
  if (size <= had) return memory;
  void* const larger = take(size, file, line);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, std::min(had, size));
  give_back(memory, file, line);
  return larger;
}

}  // namespace

void clear_openssl_memory() {
  if (CRYPTO_set_mem_functions(take, resize, give_back) != 1)
    throw std::logic_error("OpenSSL has allocated before its memory functions were set");
}

}  // namespace reprise::net
