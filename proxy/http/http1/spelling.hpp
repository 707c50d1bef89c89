// How the lines of a head or of a trailer section may be spelled, and the one spelling that leaves us.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::http {

/// `strict`, for requests: `name: value` CRLF and nothing else. `tolerant`, for what old upstreams send: also
/// LF alone as a line's end (RFC 9112 2.2), folded fields (RFC 9112 5.2), and blanks before a colon (row B7).
enum class Spelling : std::uint8_t { strict, tolerant };

/// Writes a whole response head that was read as `tolerant` once more into `out`, which is empty: every line
/// ends in CRLF, a folded field is one line with one blank where each fold was (RFC 9112 5.2), and HTTP/1.2
/// to 1.9 are HTTP/1.1 (RFC 9110 6.2). Linear; at most one byte longer for each line.
void write_clean_head(std::string_view head, std::vector<char>& out);

}  // namespace reprise::http
