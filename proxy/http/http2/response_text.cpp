#include "proxy/http/http2/response_text.hpp"

#include <algorithm>

#include "proxy/http/http1/phrase.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {

void ResponseText::begin(Section section, const HeadLimits& limits) {
  check_.begin(section, limits);
  text_.clear();
  status_ = 0;
}

void ResponseText::add(std::string_view name, std::string_view value) {
  if (check_.rejection()) return;
  check_.count_bytes(name.size() + value.size());
  if (name.starts_with(':')) return add_pseudo(name, value);
  check_.count_line();
  if (check_.section() == Section::head && status_ == 0) check_.reject(Rejection::bad_status_line);
  check_.check(name, value);
  if (!check_.rejection() && check_.passes(name)) ascii::append(text_, name, ": ", value, "\r\n");
}

void ResponseText::refuse(std::string_view name, std::string_view value) {
  add(name, value);
  check_.reject(Rejection::bad_field_value);
}

void ResponseText::add_pseudo(std::string_view name, std::string_view value) {
  if (name != ":status" || check_.section() == Section::trailers || check_.has_lines() || status_ != 0)
    check_.reject(Rejection::bad_status_line);
  if (!check_.rejection()) add_status(value);
}

void ResponseText::add_status(std::string_view value) {
  if (value.size() != 3 || !std::all_of(value.begin(), value.end(), ascii::is_digit))
    return check_.reject(Rejection::bad_status);
  const int status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0');
  // HTTP/2 has no 101 (RFC 9113 8.6).
  if (status < 100 || status > 599 || status == 101) return check_.reject(Rejection::bad_status);
  status_ = status;
  ascii::append(text_, "HTTP/1.1 ", value, " ", reason_phrase(status), "\r\n");
}

std::optional<Rejection> ResponseText::end() {
  if (check_.section() == Section::head) {
    if (status_ == 0) check_.reject(Rejection::bad_status_line);
    text_ += "\r\n";
  }
  return check_.rejection();
}

}  // namespace reprise::http
