#include "proxy/http/body_rules/event_stream.hpp"

namespace reprise::http {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

void FirstEvent::feed(std::string_view bytes) {
  while (!bytes.empty() && !complete_) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    line_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
}

void FirstEvent::end_line() {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  first_line_ = false;
  if (line.empty()) {
    dispatch();
  } else if (line.front() != ':') {
    const std::size_t colon = line.find(':');
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
  }
  line_.clear();
}

void FirstEvent::take_field(std::string_view name, std::string_view value) {
  if (name == "event") {
    name_ = value;
  } else if (name == "data") {
    if (has_data_) data_.push_back('\n');
    data_.append(value);
    has_data_ = true;
  }
}

// Ends the current block. A block without data is not an event.
void FirstEvent::dispatch() {
  if (!has_data_) {
    name_.clear();
    return;
  }
  if (name_.empty()) name_ = "message";
  complete_ = true;
}

}  // namespace reprise::http
