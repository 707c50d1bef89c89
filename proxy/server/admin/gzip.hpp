// Compression of a whole body.
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// The text as one member of gzip (RFC 1952). Takes milliseconds for a large text: call it on a page thread.
std::string gzip(std::string_view text);

}  // namespace reprise::server
