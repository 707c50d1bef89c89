// Makes OpenSSL overwrite memory that it frees, so that no copy of a key remains.
#pragma once

namespace reprise::net {

/// Sets OpenSSL's memory functions for the whole process. Call before any other OpenSSL function; otherwise
/// throws std::logic_error.
void clear_openssl_memory();

}  // namespace reprise::net
