// The framing guard: reads each head strictly, before Beast reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Reads a Content-Length of 1 to 19 decimal digits (RFC 9110 8.6); leading zeros are allowed. Returns
/// nothing for any other text.
std::optional<std::uint64_t> read_content_length(std::string_view value);
/// Reads a Content-Length as read_content_length does, but also accepts a comma list of equal numbers, which
/// RFC 9112 6.3 allows in a response.
std::optional<std::uint64_t> read_content_length_list(std::string_view value);

/// The two framing fields, in lower case.
inline constexpr std::string_view content_length_name = "content-length";
inline constexpr std::string_view transfer_encoding_name = "transfer-encoding";

/// Does the work of is_lookalike for a name that is as long as a framing field.
bool spells_framing_field_with_underscore(std::string_view name);

/// Returns true for `Content_Length` and similar names: an upstream that treats `_` as `-` would read a
/// framing field that this proxy ignores (row A2). Letter case is ignored. Returns false for the framing
/// fields themselves.
inline bool is_lookalike(std::string_view name) {
  // Every field of every head is asked, and few names have one of these lengths.
  return (name.size() == content_length_name.size() || name.size() == transfer_encoding_name.size()) &&
         spells_framing_field_with_underscore(name);
}

/// Reads a request head as parse_request does, but without the check by Beast (see beast_check.hpp).
Parsed guard_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// Deviations in a response head that the framing guard accepts although Beast rejects them. Beast reads such
/// a head in its plain form (see beast_check.hpp).
struct Oddities {
  bool no_space_after_status = false;  ///< `HTTP/1.1 200\r\n` (row B8)
  bool blank_before_colon = false;     ///< a blank before the colon of a non-framing field (row B7)
  bool length_and_chunked = false;     ///< Content-Length beside Transfer-Encoding, which wins (RFC 9112 6.3)
  bool odd_connection = false;         ///< Connection or Proxy-Connection is not a token list
  bool identity_coding = false;        ///< Transfer-Encoding lists `identity`, which older RFCs defined

  bool any() const {
    return no_space_after_status || blank_before_colon || length_and_chunked || odd_connection ||
           identity_coding;
  }
};

/// Reads a response head as parse_response does, but without the check by Beast (see beast_check.hpp).
Parsed guard_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head, Oddities& oddities);

}  // namespace reprise::http
