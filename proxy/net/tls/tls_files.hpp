// Explains why a certificate or key file cannot be used, for the person who configured it.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::net {

/// Purpose of a file.
enum class TlsFile : std::uint8_t { trusted, certificate, key };

/// Returns why OpenSSL must not read the file: for example, reading a pipe would block, and a device never
/// ends. Empty if OpenSSL may read the file, or if OpenSSL's own error will be clearer.
std::string trouble_with_kind(const std::string& file);

/// Returns what is wrong with a file that OpenSSL has rejected, and what to do. `certificate`: the file that
/// must match, if `file` is a key. Reads the file again. Empties this thread's OpenSSL error queue.
std::string trouble_with(const std::string& file, TlsFile, const std::string& certificate = {});

}  // namespace reprise::net
