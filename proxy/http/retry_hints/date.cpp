// Reads the three forms of an HTTP date by hand, because GCC 12 has no std::chrono::parse, and that function
// would also accept malformed dates.
#include "proxy/http/retry_hints/date.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::array<std::string_view, 7> day_names{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Reads a date from left to right. After the first mismatch, every further read fails.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  void expect(std::string_view literal) {
    if (!text_.starts_with(literal)) failed_ = true;
    if (!failed_) text_.remove_prefix(literal.size());
  }
  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= text_.size() || !ascii::is_digit(text_[i])) failed_ = true;
      if (failed_) return 0;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  /// Reads the day of an asctime date: two digits, or a blank and one digit.
  int padded_day() {
    if (!text_.starts_with(' ')) return digits(2);
    expect(" ");
    return digits(1);
  }
  void short_day_name() {
    const bool known = std::any_of(day_names.begin(), day_names.end(), [this](std::string_view day) {
      return text_.starts_with(day.substr(0, 3));
    });
    if (!known) failed_ = true;
    if (!failed_) text_.remove_prefix(3);
  }
  void long_day_name() {
    const auto day = std::find_if(day_names.begin(), day_names.end(),
                                  [this](std::string_view name) { return text_.starts_with(name); });
    if (day == day_names.end()) failed_ = true;
    if (!failed_) text_.remove_prefix(day->size());
  }
  unsigned month() {
    const auto found = std::find(month_names.begin(), month_names.end(), text_.substr(0, 3));
    if (found == month_names.end()) failed_ = true;
    if (failed_) return 0;
    text_.remove_prefix(3);
    return static_cast<unsigned>(found - month_names.begin()) + 1;
  }
  bool whole() const { return !failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool failed_ = false;
};

struct Moment {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;

  void read_clock(DateReader& reader) {
    hour = reader.digits(2);
    reader.expect(":");
    minute = reader.digits(2);
    reader.expect(":");
    second = reader.digits(2);
  }
};

std::optional<std::int64_t> to_unix(const Moment& moment) {
  const std::chrono::year_month_day date{std::chrono::year(moment.year), std::chrono::month(moment.month),
                                         std::chrono::day(static_cast<unsigned>(moment.day))};
  // The grammar allows a leap second.
  if (!date.ok() || moment.hour > 23 || moment.minute > 59 || moment.second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + moment.hour) * 60 + moment.minute) * 60 + moment.second;
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`.
std::optional<std::int64_t> read_fixdate(std::string_view text) {
  DateReader reader(text);
  Moment moment;
  reader.short_day_name();
  reader.expect(", ");
  moment.day = reader.digits(2);
  reader.expect(" ");
  moment.month = reader.month();
  reader.expect(" ");
  moment.year = reader.digits(4);
  reader.expect(" ");
  moment.read_clock(reader);
  reader.expect(" GMT");
  return reader.whole() ? to_unix(moment) : std::nullopt;
}

/// Reads `Sunday, 06-Nov-94 08:49:37 GMT`. Chooses the century that puts the year within 50 years of now.
std::optional<std::int64_t> read_rfc850(std::string_view text, std::int64_t now_unix) {
  DateReader reader(text);
  Moment moment;
  reader.long_day_name();
  reader.expect(", ");
  moment.day = reader.digits(2);
  reader.expect("-");
  moment.month = reader.month();
  reader.expect("-");
  const int two_digits = reader.digits(2);
  reader.expect(" ");
  moment.read_clock(reader);
  reader.expect(" GMT");
  if (!reader.whole()) return std::nullopt;
  const auto today =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(now_unix)));
  const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
  moment.year = this_year - this_year % 100 + two_digits;
  if (moment.year > this_year + 50) moment.year -= 100;
  if (moment.year < this_year - 50) moment.year += 100;
  return to_unix(moment);
}

/// Reads `Sun Nov  6 08:49:37 1994`.
std::optional<std::int64_t> read_asctime(std::string_view text) {
  DateReader reader(text);
  Moment moment;
  reader.short_day_name();
  reader.expect(" ");
  moment.month = reader.month();
  reader.expect(" ");
  moment.day = reader.padded_day();
  reader.expect(" ");
  moment.read_clock(reader);
  reader.expect(" ");
  moment.year = reader.digits(4);
  return reader.whole() ? to_unix(moment) : std::nullopt;
}

void append_padded(int value, std::size_t width, std::string& out) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

}  // namespace

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now_unix) {
  if (text.size() < 24 || text.size() > 33) return std::nullopt;
  if (text[3] == ',') return read_fixdate(text);
  if (text[3] == ' ') return read_asctime(text);
  return read_rfc850(text, now_unix);
}

std::optional<std::int64_t> parse_basic_date(std::string_view text) {
  DateReader reader(text);
  Moment moment;
  moment.year = reader.digits(4);
  moment.month = static_cast<unsigned>(reader.digits(2));
  moment.day = reader.digits(2);
  reader.expect("T");
  moment.hour = reader.digits(2);
  moment.minute = reader.digits(2);
  moment.second = reader.digits(2);
  reader.expect("Z");
  return reader.whole() ? to_unix(moment) : std::nullopt;
}

std::string format_date(std::int64_t unix_seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text(day_names[std::chrono::weekday(day).c_encoding()].substr(0, 3));
  text += ", ";
  append_padded(static_cast<int>(static_cast<unsigned>(date.day())), 2, text);
  ascii::append(text, " ", month_names[static_cast<unsigned>(date.month()) - 1], " ");
  append_padded(static_cast<int>(date.year()), 4, text);
  text += ' ';
  append_padded(static_cast<int>(clock.hours().count()), 2, text);
  text += ':';
  append_padded(static_cast<int>(clock.minutes().count()), 2, text);
  text += ':';
  append_padded(static_cast<int>(clock.seconds().count()), 2, text);
  return text += " GMT";
}

}  // namespace reprise::http
