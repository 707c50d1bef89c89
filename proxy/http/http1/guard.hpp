// The framing guard: reads a head strictly before any library does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// One number of 1 to 19 digits (RFC 9110 8.6); leading zeros are decimal.
std::optional<std::uint64_t> read_content_length(std::string_view value);
/// Reads the same, or a list of equal numbers, which RFC 9112 6.3 allows in a response.
std::optional<std::uint64_t> read_content_length_list(std::string_view value);

/// Does the work of parse_request, but without the second opinion.
Parsed guard_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// Deviations in a response that are accepted on purpose although Beast refuses them. Beast is given such a
/// head in its plain form (see beast_check.hpp).
struct Oddities {
  bool no_space_after_status = false;  ///< `HTTP/1.1 200\r\n` (row B8)
  bool blank_before_colon = false;     ///< before the colon of an ordinary field (row B7)
  bool length_and_chunked = false;     ///< both fields are present; TE wins (RFC 9112 6.3)
  bool odd_connection = false;         ///< Connection or Proxy-Connection is not a token list
  bool identity_coding = false;        ///< Transfer-Encoding lists `identity`, which older RFCs defined

  bool any() const {
    return no_space_after_status || blank_before_colon || length_and_chunked || odd_connection ||
           identity_coding;
  }
};

/// Does the work of parse_response, but without the second opinion.
Parsed guard_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head, Oddities& oddities);

}  // namespace reprise::http
