// Compresses a whole body with gzip.
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// Returns the text as one gzip member (RFC 1952). Takes milliseconds for a large text: call on the page
/// thread.
std::string gzip(std::string_view text);

}  // namespace reprise::server
