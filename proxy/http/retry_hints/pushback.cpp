#include "proxy/http/retry_hints/pushback.hpp"

#include <chrono>
#include <limits>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {

std::optional<policy::Duration> read_pushback(std::string_view value) {
  const std::optional<std::uint64_t> count = ascii::plain_decimal(value);
  if (!count || *count > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return std::chrono::milliseconds(*count);
}

}  // namespace reprise::http
