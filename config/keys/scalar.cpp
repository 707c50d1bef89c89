#include "config/keys/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

using policy::lower;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_while(std::string_view& text, bool (*wanted)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), wanted);
  const std::string_view taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

bool is_number_part(char c) { return is_digit(c) || c == '.'; }
bool is_unit_part(char c) { return !is_number_part(c); }

// Parses digits with at most one point, which needs digits on both sides. Rejects a sign, an exponent and a
// leading zero.
std::optional<double> plain_number(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (whole.empty() || !std::all_of(whole.begin(), whole.end(), is_digit)) return std::nullopt;
  if (whole.size() > 1 && whole.front() == '0') return std::nullopt;
  if (point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || !std::all_of(fraction.begin(), fraction.end(), is_digit)) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool looks_like_true(std::string_view word) {
  return word == "yes" || word == "on" || word == "y" || word == "1";
}
bool looks_like_false(std::string_view word) {
  return word == "no" || word == "off" || word == "n" || word == "0";
}

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// The units of durations, largest first.
constexpr std::array<Unit, 5> time_units{{{"h", 3'600'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"s", 1'000'000'000},
                                          {"ms", 1'000'000},
                                          {"us", 1'000}}};
constexpr std::array<Unit, 7> size_units{{{"GiB", 1ULL << 30U},
                                          {"MiB", 1ULL << 20U},
                                          {"KiB", 1ULL << 10U},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"KB", 1'000},
                                          {"B", 1}}};

template <typename Units>
auto find_unit(const Units& units, std::string_view name) {
  return std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
}

constexpr auto whole_limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Returns number * unit. The result is exact if `number` is whole. Returns nothing on overflow.
std::optional<std::uint64_t> scaled(std::string_view number, std::uint64_t unit) {
  const auto real = plain_number(number);
  if (!real) return std::nullopt;
  if (number.find('.') != std::string_view::npos) {
    const double product = *real * static_cast<double>(unit);
    if (!(product < 9.0e18)) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(product));
  }
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
  if (error != std::errc() || end != number.data() + number.size() || whole > whole_limit / unit)
    return std::nullopt;
  return whole * unit;
}

std::string trim_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

namespace {

struct LongUnit {
  std::string_view name;
  std::string_view ours;
};
constexpr auto long_units = std::to_array<LongUnit>({
    {"milliseconds", "ms"},
    {"millisecond", "ms"},
    {"millis", "ms"},
    {"msec", "ms"},
    {"seconds", "s"},
    {"second", "s"},
    {"secs", "s"},
    {"sec", "s"},
    {"minutes", "m"},
    {"minute", "m"},
    {"mins", "m"},
    {"min", "m"},
    {"hours", "h"},
    {"hour", "h"},
    {"hrs", "h"},
    {"hr", "h"},
});

/// Suggests `30s` for `30 seconds` or `PT30S`. Empty if the text is not a duration in such a form.
std::string plain_duration(std::string_view text) {
  std::string plain = lower(text);
  std::erase(plain, ' ');
  if (plain.starts_with("pt")) plain.erase(0, 2);
  std::string_view name = plain;
  const std::string_view number = take_while(name, is_number_part);
  if (name == "d" || name == "day" || name == "days") {
    const auto days = parse_whole(number);
    return days && *days.value < 366 ? std::to_string(*days.value * 24) + "h" : std::string();
  }
  const auto* const unit = std::find_if(long_units.begin(), long_units.end(),
                                        [&](const LongUnit& known) { return known.name == name; });
  if (unit != long_units.end()) plain = std::string(number).append(unit->ours);
  return plain != text && parse_duration(plain) ? plain : std::string();
}

}  // namespace

Parsed<Duration> parse_duration(std::string_view text) {
  if (text == "0") return {Duration::zero(), {}, {}};
  const std::string form = "is not a duration: write numbers with a unit, such as 250ms, 10s or 1m30s";
  if (plain_number(text))
    return refuse<Duration>("has no unit: durations are written as 250ms, 10s or 1m30s",
                            std::string(text) + "s or " + std::string(text) + "ms");
  std::uint64_t total = 0;
  auto next_unit = time_units.begin();
  std::string_view left = text;
  do {
    const std::string_view number = take_while(left, is_number_part);
    const std::string_view name = take_while(left, is_unit_part);
    const auto unit = find_unit(time_units, name);
    if (!plain_number(number)) return refuse<Duration>(form, plain_duration(text));
    if (unit == time_units.end()) {
      const auto meant = find_unit(time_units, lower(name));
      if (meant == time_units.end())
        return refuse<Duration>(form + " (units: us, ms, s, m, h)", plain_duration(text));
      return refuse<Duration>(form + " (units are lower case)", lower(text));
    }
    if (unit < next_unit)
      return refuse<Duration>("has a unit twice or in the wrong order: write units as in 1m30s");
    next_unit = unit + 1;
    const auto part = scaled(number, unit->size);
    if (!part || *part > whole_limit - total)
      return refuse<Duration>("is too long: the maximum is 292 years");
    total += *part;
  } while (!left.empty());
  return {Duration(static_cast<Duration::rep>(total)), {}, {}};
}

Parsed<std::uint64_t> parse_size(std::string_view text) {
  if (text == "0") return {0, {}, {}};
  if (plain_number(text))
    return refuse<std::uint64_t>("has no unit: sizes are written as 512B, 64KiB or 10MB",
                                 std::string(text) + "B or " + std::string(text) + "KiB");
  std::string_view name = text;
  const std::string_view number = take_while(name, is_number_part);
  const auto unit = find_unit(size_units, name);
  const std::string form = "is not a size: write a number with B, KiB, MiB, GiB, KB, MB or GB, such as 64KiB";
  if (!plain_number(number)) return refuse<std::uint64_t>(form);
  if (unit == size_units.end()) {
    const auto meant = std::find_if(size_units.begin(), size_units.end(), [&](const Unit& candidate) {
      const std::string known = lower(candidate.name);
      return known == lower(name) || known == lower(name) + "ib";
    });
    if (meant == size_units.end()) return refuse<std::uint64_t>(form);
    return refuse<std::uint64_t>(form, std::string(number).append(meant->name));
  }
  const auto bytes = scaled(number, unit->size);
  if (!bytes) return refuse<std::uint64_t>("is too large: it does not fit in 63 bits");
  return {*bytes, {}, {}};
}

Parsed<double> parse_ratio(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = plain_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!number) return refuse<double>("is not a ratio: write 20% or 0.2");
  const double ratio = percent ? *number / 100 : *number;
  if (ratio > 1) {
    const std::string meant = percent || *number > 100 ? std::string() : std::string(text) + "%";
    return refuse<double>("is more than 100%: a ratio is 0% to 100%, or 0 to 1", meant);
  }
  return {ratio, {}, {}};
}

Parsed<double> parse_rate(std::string_view text) {
  if (text == "0") return {0.0, {}, {}};
  if (plain_number(text))
    return refuse<double>("has no unit: rates are written per second, as 10/s", std::string(text) + "/s");
  if (!text.ends_with("/s")) {
    std::string_view name = text;
    const std::string_view per_second = take_while(name, is_number_part);
    const bool is_known = name == "rps" || name == "/sec" || name == "/second" || name == " per second";
    return refuse<double>(
        "is not a rate: write a number per second, such as 10/s",
        is_known && plain_number(per_second) ? std::string(per_second) + "/s" : std::string());
  }
  const auto number = plain_number(text.substr(0, text.size() - 2));
  if (!number) return refuse<double>("is not a rate: write a number per second, such as 10/s");
  return {*number, {}, {}};
}

Parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true") return {true, {}, {}};
  if (text == "false") return {false, {}, {}};
  const std::string word = lower(text);
  std::string meant;
  if (looks_like_true(word) || word == "true") meant = "true";
  if (looks_like_false(word) || word == "false") meant = "false";
  return refuse<bool>("is not a boolean: write true or false", meant);
}

Parsed<std::uint64_t> parse_whole(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit))
    return refuse<std::uint64_t>("is not a whole number: write decimal digits only");
  if (text.size() > 1 && text.front() == '0') {
    const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    return refuse<std::uint64_t>(
        "starts with a zero, which some parsers read as octal: write it without the zero",
        std::string(text.substr(first)));
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return refuse<std::uint64_t>("is too large: it does not fit in 64 bits");
  return {value, {}, {}};
}

Parsed<double> parse_number(std::string_view text) {
  const auto number = plain_number(text);
  if (!number) return refuse<double>("is not a number: write decimal digits, such as 2 or 1.5");
  return {*number, {}, {}};
}

Parsed<StatusRange> parse_statuses(std::string_view text) {
  const std::string form = "is not a status: write 503, 500-599 or 5xx, from 200 to 999";
  if (text.size() == 3 && text.substr(1) == "xx" && text.front() >= '2' && text.front() <= '9') {
    const int first = (text.front() - '0') * 100;
    return {StatusRange{first, first + 99}, {}, {}};
  }
  if (text.size() == 3 && lower(text.substr(1)) == "xx" && text.front() >= '2' && text.front() <= '9')
    return refuse<StatusRange>(form, lower(text));
  const std::size_t dash = text.find('-');
  const auto first = parse_whole(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_whole(text.substr(dash + 1));
  if (!first || !last || *first.value < 200 || *last.value > policy::highest_status)
    return refuse<StatusRange>(form);
  if (*first.value > *last.value)
    return refuse<StatusRange>("is in the wrong order: the lower status comes first");
  return {StatusRange{static_cast<int>(*first.value), static_cast<int>(*last.value)}, {}, {}};
}

std::string duration_text(Duration duration) {
  auto left = static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count());
  if (left == 0) return "0s";
  std::string text;
  for (const Unit& unit : time_units) {
    const std::uint64_t count = left / unit.size;
    if (unit.name == "us" || count == 0) continue;
    text.append(std::to_string(count)).append(unit.name);
    left %= unit.size;
  }
  // The smallest unit is us, so nanoseconds are written as a fraction, such as 1.5us.
  if (left > 0) text.append(number_text(static_cast<double>(left) / 1000)).append("us");
  return text;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes == 0) return "0";
  const auto exact = std::find_if(size_units.begin(), size_units.end(),
                                  [&](const Unit& unit) { return bytes % unit.size == 0; });
  return std::to_string(bytes / exact->size).append(exact->name);
}

std::string number_text(double number) {
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return error == std::errc() ? trim_zeros(std::string(buffer.data(), end)) : "0";
}

std::string ratio_text(double ratio) {
  // The percent form is used only if it parses to exactly the same number.
  const std::string percent = number_text(ratio * 100);
  if (percent.size() <= 6 && parse_ratio(percent + "%").value == ratio) return percent + "%";
  return number_text(ratio);
}

std::string rate_text(double rate) { return number_text(rate) + "/s"; }

}  // namespace reprise::config
