// Why a file of certificates or keys cannot be used, said to whoever wrote its name.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::net {

/// What a file is named for.
enum class TlsFile : std::uint8_t { trusted, certificate, key };

/// Before OpenSSL reads it, which would wait at a pipe and never end with a device: why it must not; empty:
/// it may, or will say better why it cannot.
std::string trouble_with_kind(const std::string& file);

/// After OpenSSL has refused it: what is wrong, and what to do; `certificate` is the file that a key has to
/// belong to. Reads the file again. Empties this thread's queue of errors.
std::string trouble_with(const std::string& file, TlsFile, const std::string& certificate = {});

}  // namespace reprise::net
