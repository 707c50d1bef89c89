// Reads each hint field by its own grammar. For almost all other fields, only the length of the name is
// compared.
#include "proxy/http/retry_hints/hint.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/via.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/http/retry_hints/pushback.hpp"

namespace reprise::http {
namespace {

using policy::Duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Number {
  std::int64_t whole = 0;
  std::int64_t millionths = 0;
};

/// Returns the duration of `count` units, limited to the range from 0 to the longest pause.
Duration pause_of(const Number& count, Duration unit) {
  if (count.whole < 0) return Duration::zero();
  if (count.whole >= longest_pause / unit) return longest_pause;
  return count.whole * unit + unit * count.millionths / 1'000'000;
}

/// Removes digits from the front of `text` and returns their value. If the number is too large, returns a
/// large value of at most 18 digits.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  if (text.empty() || !ascii::is_digit(text.front())) return std::nullopt;
  constexpr std::int64_t too_large = 100'000'000'000'000'000;
  std::int64_t value = 0;
  while (!text.empty() && ascii::is_digit(text.front())) {
    if (value < too_large) value = value * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  return value;
}

/// Removes a decimal number, with or without a fraction, from the front of `text`. Drops digits beyond
/// millionths.
std::optional<Number> take_number(std::string_view& text) {
  const std::optional<std::int64_t> whole = take_digits(text);
  if (!whole) return std::nullopt;
  Number number{*whole, 0};
  if (!text.starts_with('.')) return number;
  text.remove_prefix(1);
  if (text.empty() || !ascii::is_digit(text.front())) return std::nullopt;
  for (std::int64_t place = 100'000; !text.empty() && ascii::is_digit(text.front()); place /= 10) {
    number.millionths += place * (text.front() - '0');
    text.remove_prefix(1);
  }
  return number;
}

/// Reads a text that consists of exactly one number.
std::optional<Number> read_number(std::string_view text) {
  const std::optional<Number> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<Number> read_whole_number(std::string_view text) {
  const std::optional<std::int64_t> whole = take_digits(text);
  return whole && text.empty() ? std::optional(Number{*whole, 0}) : std::nullopt;
}

/// Returns the reference time for the dates of a response: its own Date, otherwise `now_unix`.
std::int64_t date_of(const ResponseHead& head, std::int64_t now_unix) {
  const FieldLine* const date = head.find(FieldId::date);
  return (date == nullptr ? std::nullopt : parse_date(date->value, now_unix)).value_or(now_unix);
}

/// The pause that a field asks for; nothing if the value is malformed.
using Pause = std::optional<Duration>;

Pause read_retry_after(std::string_view value, const ResponseHead& head, std::int64_t now_unix) {
  if (const auto count = read_number(value)) return pause_of(*count, seconds(1));
  const std::optional<std::int64_t> date = parse_date(value, now_unix);
  return date ? Pause{pause_of({*date - date_of(head, now_unix), 0}, seconds(1))} : std::nullopt;
}

Pause read_count(std::string_view value, Duration unit) {
  const std::optional<Number> count = read_number(value);
  return count ? Pause{pause_of(*count, unit)} : std::nullopt;
}

/// Reads `1h2m3.5s`: units from large to small, each at most once.
Pause read_units(std::string_view text) {
  struct Unit {
    std::string_view name;
    Duration length;
  };
  constexpr std::array<Unit, 4> units{{{"h", std::chrono::hours(1)},
                                       {"m", std::chrono::minutes(1)},
                                       {"s", seconds(1)},
                                       {"ms", milliseconds(1)}}};
  Duration sum{};
  const Unit* next = units.begin();
  while (!text.empty()) {
    const std::optional<Number> count = take_number(text);
    const auto letters =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), ascii::is_letter) - text.begin());
    const std::string_view name = text.substr(0, letters);
    const Unit* const unit = std::find_if(next, units.end(), [&](const Unit& u) { return u.name == name; });
    if (!count || unit == units.end()) return std::nullopt;
    sum += pause_of(*count, unit->length);
    next = unit + 1;
    text.remove_prefix(letters);
  }
  return std::min(sum, longest_pause);
}

Pause read_reset(std::string_view value, const ResponseHead& head, std::int64_t now_unix) {
  // A larger number is a time in Unix seconds. As a delay, it would be longer than 31 years.
  constexpr std::int64_t unix_seconds = 1'000'000'000;
  // A larger number is a time in Unix milliseconds. In Unix seconds, it would be after the year 5138.
  constexpr std::int64_t unix_milliseconds = 100'000'000'000;
  std::optional<Number> number = read_number(value);
  if (!number) return read_units(value);
  if (number->whole > unix_milliseconds) {
    number->whole -= date_of(head, now_unix) * 1000;
    return pause_of(*number, milliseconds(1));
  }
  if (number->whole > unix_seconds) number->whole -= date_of(head, now_unix);
  return pause_of(*number, seconds(1));
}

/// The values of one policy in a RateLimit field.
struct Quota {
  std::optional<Number> remaining;
  std::optional<Number> reset;

  void take(std::string_view pair, std::string_view remaining_key, std::string_view reset_key) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view key = pair.substr(0, equals);
    const std::optional<Number> value = read_whole_number(pair.substr(std::min(equals + 1, pair.size())));
    if (key == remaining_key) remaining = value;
    if (key == reset_key) reset = value;
  }
  Duration pause() const {
    const bool spent = remaining && remaining->whole == 0;
    return spent && reset ? pause_of(*reset, seconds(1)) : Duration::zero();
  }
};

/// Removes the text before the first separator from the front of `text`, and returns it. Without a separator,
/// removes and returns the whole text. Ignores separators between quotes (RFC 9651 3.3.3).
std::string_view take_piece(std::string_view& text, char separator) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != separator); ++end) {
    if (text[end] == '"') quoted = !quoted;
    if (quoted && text[end] == '\\') ++end;
  }
  const std::string_view piece = ascii::trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

Duration read_rate_limit(std::string_view list) {
  Quota named;  // older drafts: the field has one policy, written as members of a dictionary
  Duration longest{};
  while (!list.empty()) {
    std::string_view member = take_piece(list, ',');
    const std::string_view first = take_piece(member, ';');
    if (!first.starts_with('"')) named.take(first, "remaining", "reset");
    Quota quota;
    while (!member.empty()) quota.take(take_piece(member, ';'), "r", "t");
    longest = std::max(longest, quota.pause());
  }
  return std::max(longest, named.pause());
}

enum class HintField : std::uint8_t {
  none,
  retry_after,
  retry_after_ms,
  should_retry,
  ratelimit,
  ratelimit_reset,
  ratelimit_reset_after,
  ratelimit_remaining,
  proxies,
  amz_retry_after,
  pushback,
};

/// Identifies a hint field by its name. The length of the name rules out nearly all other fields.
HintField identify(const FieldLine& field) {
  if (field.id == FieldId::retry_after) return HintField::retry_after;
  if (field.id == FieldId::via || field.id == FieldId::proxy_status) return HintField::proxies;
  if (field.id != FieldId::other) return HintField::none;
  const auto is = [&](std::string_view name) { return ascii::same(field.name, name); };
  switch (field.name.size()) {
    case 9: return is("ratelimit") ? HintField::ratelimit : HintField::none;
    case 14:
      if (is("retry-after-ms")) return HintField::retry_after_ms;
      return is("x-should-retry") ? HintField::should_retry : HintField::none;
    case 17:
      if (is("x-ratelimit-reset")) return HintField::ratelimit_reset;
      return is("x-amz-retry-after") ? HintField::amz_retry_after : HintField::none;
    case 19:
      if (is("stripe-should-retry")) return HintField::should_retry;
      return is("x-ms-retry-after-ms") ? HintField::retry_after_ms : HintField::none;
    case 21: return is("x-ratelimit-remaining") ? HintField::ratelimit_remaining : HintField::none;
    case 22: return is("grpc-retry-pushback-ms") ? HintField::pushback : HintField::none;
    case 23: return is("x-ratelimit-reset-after") ? HintField::ratelimit_reset_after : HintField::none;
    default: return HintField::none;
  }
}

/// Collects the hints of one head.
class Reading {
 public:
  Reading(const ResponseHead& head, std::int64_t now_unix)
      : head_(head), now_unix_(now_unix), refused_(head.status == 429 || head.status == 503) {}

  void read(HintField hint, const FieldLine& field) {
    const std::string_view value = field.value;
    switch (hint) {
      case HintField::none: break;
      case HintField::retry_after: take(field, pause_, read_retry_after(value, head_, now_unix_)); break;
      case HintField::retry_after_ms: take(field, pause_, read_count(value, milliseconds(1))); break;
      case HintField::should_retry: read_should_retry(field); break;
      case HintField::amz_retry_after: take(field, amz_, read_amz(value)); break;
      case HintField::proxies: from_reprise_ = from_reprise_ || names_reprise(field); break;
      case HintField::pushback: take_pushback(read_pushback(value)); break;
      case HintField::ratelimit:
        if (refused_) pause_ = std::max(pause_, read_rate_limit(value));
        break;
      case HintField::ratelimit_reset:
        if (refused_) take(field, reset_, read_reset(value, head_, now_unix_));
        break;
      case HintField::ratelimit_reset_after:
        if (head_.status == 429) take(field, pause_, read_count(value, seconds(1)));
        break;
      case HintField::ratelimit_remaining: quota_left_ = ascii::decimal(value).value_or(0) > 0; break;
    }
  }

  policy::Hints result() const {
    policy::Hints hints;
    const Duration pause = quota_left_ ? pause_ : std::max(pause_, reset_);
    if (pause > Duration::zero()) hints.retry_after = pause;
    if (amz_ > Duration::zero()) hints.aws_retry_after = amz_;
    hints.said_no = no_retry_;
    hints.from_reprise = from_reprise_;
    return hints;
  }
  const FieldLine* not_understood() const { return not_understood_; }

 private:
  void take(const FieldLine& field, Duration& pause, Pause asked) {
    if (!asked && not_understood_ == nullptr) not_understood_ = &field;
    pause = std::max(pause, asked.value_or(Duration::zero()));
  }

  static Pause read_amz(std::string_view value) {
    const std::optional<Number> count = read_whole_number(value);
    return count ? Pause{pause_of(*count, milliseconds(1))} : std::nullopt;
  }
  void read_should_retry(const FieldLine& field) {
    const bool no = ascii::same(field.value, "false");
    no_retry_ = no_retry_ || no;
    if (!no && !ascii::same(field.value, "true") && not_understood_ == nullptr) not_understood_ = &field;
  }
  void take_pushback(Pause asked) {
    no_retry_ = no_retry_ || !asked;
    pause_ = std::max(pause_, asked.value_or(Duration::zero()));
  }

  const ResponseHead& head_;
  std::int64_t now_unix_;
  bool refused_;  // the status is 429 or 503: the quota or the capacity is exhausted
  bool no_retry_ = false;
  bool from_reprise_ = false;
  bool quota_left_ = false;
  Duration pause_{};
  Duration reset_{};
  Duration amz_{};
  const FieldLine* not_understood_ = nullptr;
};

Reading read(const ResponseHead& head, std::int64_t now_unix) {
  Reading reading(head, now_unix);
  for (const FieldLine& field : head.fields) reading.read(identify(field), field);
  return reading;
}

}  // namespace

policy::Hints read_hints(const ResponseHead& head, std::int64_t now_unix) {
  return read(head, now_unix).result();
}

const FieldLine* hint_not_understood(const ResponseHead& head, std::int64_t now_unix) {
  return read(head, now_unix).not_understood();
}

}  // namespace reprise::http
