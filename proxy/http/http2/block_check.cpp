#include "proxy/http/http2/block_check.hpp"

#include <algorithm>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/guard.hpp"
#include "proxy/http/http2/field.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

// Overhead in bytes that is added to the size of each field's name and value (RFC 9113 6.5.2).
constexpr std::size_t bytes_per_field = 32;

bool is_name_byte(char byte) { return ascii::is_token(byte) && byte == ascii::lower(byte); }

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_name_byte);
}

bool is_value(std::string_view value) {
  if (!value.empty() && (ascii::is_blank(value.front()) || ascii::is_blank(value.back()))) return false;
  return std::none_of(value.begin(), value.end(), ascii::is_control);
}

}  // namespace

void BlockCheck::begin(Section section, const HeadLimits& limits) {
  section_ = section;
  limits_ = limits;
  bytes_ = lines_ = 0;
  length_.reset();
  rejection_.reset();
}

void BlockCheck::reject(Rejection cause) {
  if (!rejection_) rejection_ = cause;
}

void BlockCheck::count_bytes(std::size_t bytes) {
  bytes_ += bytes + bytes_per_field;
  if (bytes_ > limits_.bytes) reject(Rejection::header_too_large);
}

void BlockCheck::count_line() {
  if (++lines_ > limits_.fields) reject(Rejection::too_many_fields);
}

void BlockCheck::check(std::string_view name, std::string_view value) {
  if (!is_name(name)) return reject(Rejection::bad_field_name);
  if (!is_value(value)) return reject(Rejection::bad_field_value);
  if (is_lookalike(name)) return reject(Rejection::lookalike_framing_field);
  if (name == "transfer-encoding") return reject(Rejection::bad_transfer_encoding);
  if (is_connection_field(name)) return reject(Rejection::bad_field_name);
  if (name == "te" && !ascii::same(value, "trailers")) return reject(Rejection::bad_field_value);
  if (name == content_length_name) check_length(value);
}

void BlockCheck::check_length(std::string_view value) {
  const std::optional<std::uint64_t> length = read_content_length(value);
  if (section_ == Section::trailers || !length) return reject(Rejection::bad_content_length);
  if (length_) return reject(Rejection::conflicting_content_length);
  length_ = length;
}

bool BlockCheck::passes(std::string_view name) const {
  return section_ == Section::head || !is_forbidden_trailer(name);
}

}  // namespace reprise::http
