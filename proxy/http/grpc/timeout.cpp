#include "proxy/http/grpc/timeout.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

using policy::Duration;

struct Unit {
  char letter;
  Duration length;
};

constexpr std::array<Unit, 6> units{{{'n', std::chrono::nanoseconds(1)},
                                     {'u', std::chrono::microseconds(1)},
                                     {'m', std::chrono::milliseconds(1)},
                                     {'S', std::chrono::seconds(1)},
                                     {'M', std::chrono::minutes(1)},
                                     {'H', std::chrono::hours(1)}}};
constexpr std::size_t smallest_written = 2;  // the place of milliseconds
constexpr std::size_t most_digits = 8;
constexpr std::int64_t largest_number = 99'999'999;
// 99,999,999 hours do not fit into a Duration.
constexpr Duration longest = std::chrono::seconds(std::int64_t{1} << 31);

}  // namespace

std::optional<Duration> parse_timeout(std::string_view value) {
  if (value.empty() || value.size() > most_digits + 1) return std::nullopt;
  const auto number = ascii::decimal(value.substr(0, value.size() - 1));
  const auto* const unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.letter == value.back(); });
  if (!number || unit == units.end()) return std::nullopt;
  const auto count = static_cast<std::int64_t>(*number);
  return count > longest / unit->length ? longest : count * unit->length;
}

std::string_view timeout_of(const RequestHead& head) {
  std::string_view text;
  for (const FieldLine& field : head.fields) {
    if (!ascii::same(field.name, "grpc-timeout")) continue;
    if (!text.empty() || !parse_timeout(field.value)) return {};
    text = field.value;
  }
  return text;
}

std::string format_timeout(Duration left) {
  static_assert(Duration::max() / units.back().length <= largest_number);
  std::size_t place = smallest_written;
  while (left / units[place].length > largest_number) ++place;
  const std::int64_t count = std::max<std::int64_t>(left / units[place].length, 1);
  return std::to_string(count) + units[place].letter;
}

}  // namespace reprise::http
