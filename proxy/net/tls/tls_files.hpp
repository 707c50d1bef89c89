// Explains why a certificate or key file cannot be used, for the person who configured it.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::net {

/// Purpose of a file.
enum class TlsFile : std::uint8_t { trusted, certificate, key };

/// Returns why OpenSSL must not read the file, such as a pipe, where it would block, or a device, which never
/// ends. Empty if it may, or if its own error will be clearer.
std::string trouble_with_kind(const std::string& file);

/// Returns what is wrong with a file that OpenSSL has rejected, and what to do. `certificate`: the file that
/// a key must match. Reads the file again. Empties this thread's OpenSSL error queue.
std::string trouble_with(const std::string& file, TlsFile, const std::string& certificate = {});

}  // namespace reprise::net
