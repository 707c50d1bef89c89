#include "proxy/http/http2/response_text.hpp"

#include <algorithm>

#include "proxy/http/http1/guard.hpp"
#include "proxy/http/http1/phrase.hpp"
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

// Names that another recipient could read as a framing field (row A2).
bool looks_like_framing(std::string_view name) {
  return name == "transfer_encoding" || name == "content_length";
}

}  // namespace

void ResponseText::begin(Section section, const HeadLimits& limits) {
  section_ = section;
  limits_ = limits;
  text_.clear();
  length_.clear();
  counted_bytes_ = fields_ = 0;
  status_ = 0;
  rejection_.reset();
}

void ResponseText::reject(Rejection cause) {
  if (!rejection_) rejection_ = cause;
}

void ResponseText::add(std::string_view name, std::string_view value) {
  if (rejection_) return;
  counted_bytes_ += name.size() + value.size() + bytes_per_field;
  if (counted_bytes_ > limits_.bytes) return reject(Rejection::header_too_large);
  if (name.starts_with(':')) {
    if (name != ":status" || section_ == Section::trailers || fields_ > 0 || status_ != 0)
      return reject(Rejection::bad_status_line);
    return add_status(value);
  }
  if (++fields_ > limits_.fields) return reject(Rejection::too_many_fields);
  if (section_ == Section::head && status_ == 0) return reject(Rejection::bad_status_line);
  if (!is_name(name)) return reject(Rejection::bad_field_name);
  if (!is_value(value)) return reject(Rejection::bad_field_value);
  if (looks_like_framing(name)) return reject(Rejection::lookalike_framing_field);
  const bool is_te = name == "te" && !ascii::same(value, "trailers");
  if (is_te || is_connection_field(name)) return reject(Rejection::bad_transfer_encoding);
  if (name == "content-length") check_length(value);
  if (!rejection_) ascii::append(text_, name, ": ", value, "\r\n");
}

void ResponseText::refuse(std::string_view name, std::string_view value) {
  add(name, value);
  reject(Rejection::bad_field_value);
}

void ResponseText::add_status(std::string_view value) {
  if (value.size() != 3 || !std::all_of(value.begin(), value.end(), ascii::is_digit))
    return reject(Rejection::bad_status);
  const int status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0');
  // HTTP/2 has no 101 (RFC 9113 8.6).
  if (status < 100 || status > 599 || status == 101) return reject(Rejection::bad_status);
  status_ = status;
  ascii::append(text_, "HTTP/1.1 ", value, " ", reason_phrase(status), "\r\n");
}

void ResponseText::check_length(std::string_view value) {
  if (section_ == Section::trailers || !read_content_length(value))
    return reject(Rejection::bad_content_length);
  if (!length_.empty()) return reject(Rejection::conflicting_content_length);
  length_ = value;
}

std::optional<Rejection> ResponseText::end() {
  if (section_ == Section::head) {
    if (status_ == 0) reject(Rejection::bad_status_line);
    text_ += "\r\n";
  }
  return rejection_;
}

}  // namespace reprise::http
