// Makes OpenSSL overwrite memory when it is freed, so that no copy of a key remains.
#pragma once

namespace reprise::net {

/// Sets the memory functions for the whole process. Call before any other OpenSSL function; else throws
/// std::logic_error.
void clear_openssl_memory();

}  // namespace reprise::net
