// The table behind the causes of rejection.
#include "proxy/http/rejection.hpp"

namespace reprise::http {
namespace {

struct Row {
  Cause cause;
  int status;
  std::string_view word;
  std::string_view sentence;
};

constexpr std::array<Row, cause_count> rows{{
    {Cause::bad_request_line, 400, "bad_request_line",
     "The request line is not `method target HTTP/1.x` ended by CRLF."},
    {Cause::bad_method, 400, "bad_method",
     "The method is not a token, or not one that this listener serves."},
    {Cause::method_too_long, 501, "method_too_long", "The method has more than 32 characters."},
    {Cause::bad_target, 400, "bad_target",
     "The request target is empty, of a form that its method does not have, or holds a blank, a control "
     "character or a fragment."},
    {Cause::target_too_long, 414, "target_too_long", "The request target is longer than limits.target."},
    {Cause::bad_version, 505, "bad_version", "Of HTTP, only major version 1 is spoken here."},
    {Cause::header_too_large, 431, "header_too_large", "The head is larger than limits.header."},
    {Cause::too_many_fields, 431, "too_many_fields", "The head has more fields than limits.header_fields."},
    {Cause::bad_field_name, 400, "bad_field_name",
     "A field name is empty, is not a token, or is not followed by its colon at once."},
    {Cause::bad_field_value, 400, "bad_field_value",
     "A field value holds a control character, or breaks the grammar of its field."},
    {Cause::obs_fold, 400, "obs_fold", "A field is folded over two lines."},
    {Cause::lookalike_framing_field, 400, "lookalike_framing_field",
     "A field name differs from a framing field only by an underscore."},
    {Cause::missing_host, 400, "missing_host", "The Host field is missing."},
    {Cause::repeated_host, 400, "repeated_host", "There is more than one Host field."},
    {Cause::bad_host, 400, "bad_host", "The Host field is not a host with an optional port."},
    {Cause::bad_content_length, 400, "bad_content_length",
     "Content-Length is not one decimal number of at most 19 digits."},
    {Cause::conflicting_content_length, 400, "conflicting_content_length",
     "Two Content-Length fields differ."},
    {Cause::bad_transfer_encoding, 400, "bad_transfer_encoding",
     "Transfer-Encoding is not exactly one `chunked`."},
    {Cause::unsupported_transfer_encoding, 501, "unsupported_transfer_encoding",
     "No transfer coding but chunked is supported."},
    {Cause::length_and_chunked, 400, "length_and_chunked",
     "Content-Length and Transfer-Encoding are both there, so the end of the body is ambiguous."},
    {Cause::length_required, 411, "length_required",
     "The upstream speaks HTTP/1.0, which needs a Content-Length, and the body could not be held to be "
     "counted."},
    {Cause::chunked_in_http_1_0, 400, "chunked_in_http_1_0", "HTTP/1.0 has no Transfer-Encoding."},
    {Cause::bad_chunk, 400, "bad_chunk",
     "The chunked body is malformed, or its framing outweighs its content."},
    {Cause::bad_trailer, 400, "bad_trailer", "The trailer section is malformed or larger than 8 KiB."},
    {Cause::bad_scheme, 400, "bad_scheme", "The target is not an http or https URI."},
    {Cause::bad_authority, 400, "bad_authority", "The authority of the target is not a host with a port."},
    {Cause::userinfo_in_authority, 400, "userinfo_in_authority", "The target carries user information."},
    {Cause::connect_with_body, 400, "connect_with_body", "CONNECT has no body."},
    {Cause::trace_with_body, 400, "trace_with_body", "TRACE has no body."},
    {Cause::connect_port_denied, 403, "connect_port_denied",
     "The port is not listed in security.connect_ports."},
    {Cause::not_a_proxy_request, 400, "not_a_proxy_request",
     "This is a forward proxy: the target must be an absolute URI."},
    {Cause::bad_expect, 417, "bad_expect", "The only expectation that is understood is 100-continue."},
    {Cause::bad_max_forwards, 400, "bad_max_forwards", "Max-Forwards is not one decimal number."},
    {Cause::header_timeout, 408, "header_timeout", "The head was not complete within timers.header."},
    {Cause::loop, 508, "loop", "The request has been here before: it loops."},
    {Cause::bad_status_line, 502, "bad_status_line", "The status line of the upstream is malformed."},
    {Cause::bad_status, 502, "bad_status", "The status of the upstream is not between 100 and 599."},
}};

consteval bool rows_are_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].cause) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

constexpr const Row& row(Cause cause) { return rows[static_cast<std::size_t>(cause)]; }

}  // namespace

std::string_view word(Cause cause) { return row(cause).word; }

std::array<std::string_view, cause_count> all_words() {
  std::array<std::string_view, cause_count> words{};
  for (std::size_t i = 0; i < cause_count; ++i) words[i] = rows[i].word;
  return words;
}

int status_of(Cause cause) { return row(cause).status; }
std::string_view sentence(Cause cause) { return row(cause).sentence; }

}  // namespace reprise::http
