// Memory of OpenSSL that is overwritten when it is given back, so that no copy of a key stays behind.
#pragma once

namespace reprise::net {

/// For the whole process; before the first call of anything else of OpenSSL, else it throws std::logic_error.
void clear_openssl_memory();

}  // namespace reprise::net
