// Memory for private keys: excluded from core files, and locked against swapping if that is allowed.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace reprise::server {

/// Reserves the memory, once per process. OpenSSL then keeps the secret numbers of keys in this memory. Call
/// before the first key is made or read. Returns false if the memory could not be locked (RLIMIT_MEMLOCK);
/// even then, the memory is excluded from core files.
bool reserve_secret_memory();

/// Bytes in the reserved secret memory, overwritten when freed. The bytes are in ordinary memory if no secret
/// memory was reserved.
class SecretBytes {
 public:
  /// Throws std::bad_alloc.
  explicit SecretBytes(std::size_t room);
  ~SecretBytes();
  SecretBytes(SecretBytes&&) = delete;
  SecretBytes& operator=(SecretBytes&&) = delete;

  char* data() { return bytes_; }
  std::size_t room() const { return room_; }
  std::string_view text(std::size_t size) const { return {bytes_, size}; }

 private:
  char* bytes_;
  std::size_t room_;
};

}  // namespace reprise::server
