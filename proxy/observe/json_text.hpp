// Text made safe for logs and JSON: whatever a client sent, a line stays
// one line and a terminal stays as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace reprise::observe {

/// The most bytes of one client-controlled value that a log line shows.
inline constexpr std::size_t value_limit = 256;

/// The first `value_limit` bytes at most, never ending inside a UTF-8 sequence. A view into `value`.
std::string_view clipped(std::string_view value);

/// Appends `value` as a JSON string with its quotes (RFC 8259 section 7). Control characters, C1 controls,
/// and characters that hide or reorder text become \uXXXX; each byte that is no UTF-8 becomes \ufffd.
void append_json(std::string& out, std::string_view value);
/// The same for a terminal: no quotes are put around it, and quotes and backslashes stay as they are.
void append_visible(std::string& out, std::string_view value);

void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, std::int64_t value);

}  // namespace reprise::observe
