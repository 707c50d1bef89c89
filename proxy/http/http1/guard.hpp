// The framing guard: the strict reading of a head, before and whatever any library makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// One number of 1 to 19 digits (RFC 9110 8.6); leading zeros are decimal.
std::optional<std::uint64_t> read_content_length(std::string_view value);
/// The same, or a list of equal numbers, as RFC 9112 6.3 allows for a response.
std::optional<std::uint64_t> read_content_length_list(std::string_view value);

/// parse_request without the second opinion.
Parsed guard_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// Shapes of a response that are accepted on purpose although Beast refuses them. A head that has one is
/// shown to Beast in its plain form (see beast_check.hpp).
struct Oddities {
  bool no_space_after_status = false;  ///< `HTTP/1.1 200\r\n` (row B8)
  bool blank_before_colon = false;     ///< of an ordinary field (row B7)
  bool length_and_chunked = false;     ///< TE wins (RFC 9112 6.3)
  bool odd_connection = false;         ///< Connection or Proxy-Connection that is no token list
  bool identity_coding = false;        ///< Transfer-Encoding lists `identity`, a word of old RFCs

  bool any() const {
    return no_space_after_status || blank_before_colon || length_and_chunked || odd_connection ||
           identity_coding;
  }
};

/// parse_response without the second opinion.
Parsed guard_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head, Oddities& oddities);

}  // namespace reprise::http
