// Memory for private keys: left out of core files, and locked against swap where that is allowed.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace reprise::server {

/// Sets it aside, once a process, before the first key is made or read: from then on OpenSSL
/// keeps the secret numbers of keys there. False where it could not be locked
/// (RLIMIT_MEMLOCK); it is in no core file then, either.
bool reserve_secret_memory();

/// Bytes there, overwritten at their end. Where none was set aside it is ordinary memory.
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
