#include "proxy/forward/request/outgoing_fields.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::forward {

bool OutgoingFields::has(std::string_view name, std::string_view value) const {
  if (!named_) named_.emplace(head_.fields);
  if (named_->lists(name)) return false;
  std::string_view rest = outgoing_;
  for (std::size_t end = rest.find("\r\n"); end != std::string_view::npos; end = rest.find("\r\n")) {
    rest.remove_prefix(end + 2);
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !http::ascii::same(line.substr(0, colon), name)) continue;
    const std::string_view found = http::ascii::trim(line.substr(colon + 1));
    if (value.empty() ? !found.empty() : found == value) return true;
  }
  return false;
}

}  // namespace reprise::forward
