// Line formats that are accepted in heads and trailers, and the clean format that is forwarded.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::http {

/// `strict`, for requests: only `name: value` CRLF. `tolerant`, for old upstreams, also accepts lines that
/// end in LF alone (RFC 9112 2.2), folded fields (RFC 9112 5.2), and blanks before a colon (row B7).
enum class Spelling : std::uint8_t { strict, tolerant };

/// Writes a whole response head that was read as `tolerant` to `out` in clean form. Every line ends in CRLF,
/// each fold becomes one blank (RFC 9112 5.2), and HTTP/1.2 to 1.9 become HTTP/1.1 (RFC 9110 6.2). Takes
/// linear time and adds at most one byte for each line. Precondition: `out` is empty.
void write_clean_head(std::string_view head, std::vector<char>& out);

}  // namespace reprise::http
