// Fuzz target: dates and retry hints. A parsed date is the same instant in every form. The pause of a hint is
// bounded and does not depend on the order of the fields.
#include <algorithm>
#include <chrono>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/http/retry_hints/hint.hpp"
#include "tests/fuzz/heads.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

constexpr std::int64_t now_unix = 1'700'000'000;
constexpr std::int64_t year_zero = -62'167'219'200;
constexpr std::int64_t year_ten_thousand = 253'402'300'800;
constexpr std::int64_t fifty_one_years = 51LL * 366 * 86400;

/// Converts an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`, to RFC 850: `Sunday, 06-Nov-94 08:49:37 GMT`.
std::string as_rfc850(std::string_view fixdate) {
  constexpr std::string_view days = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday ";
  const std::size_t day = days.find(fixdate.substr(0, 3));
  return std::string(days.substr(day, days.find(' ', day) - day)) + ", " + std::string(fixdate.substr(5, 2)) +
         "-" + std::string(fixdate.substr(8, 3)) + "-" + std::string(fixdate.substr(14));
}

/// Converts an IMF-fixdate to asctime: `Sun Nov  6 08:49:37 1994`.
std::string as_asctime(std::string_view fixdate) {
  const std::string day =
      fixdate[5] == '0' ? " " + std::string(fixdate.substr(6, 1)) : std::string(fixdate.substr(5, 2));
  return std::string(fixdate.substr(0, 3)) + " " + std::string(fixdate.substr(8, 3)) + " " + day + " " +
         std::string(fixdate.substr(17, 8)) + " " + std::string(fixdate.substr(12, 4));
}

std::string as_basic(std::string_view fixdate) {
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t month = months.find(fixdate.substr(8, 3)) / 3 + 1;
  return std::string(fixdate.substr(12, 4)) + (month < 10 ? "0" : "") + std::to_string(month) +
         std::string(fixdate.substr(5, 2)) + "T" + std::string(fixdate.substr(17, 2)) +
         std::string(fixdate.substr(20, 2)) + std::string(fixdate.substr(23, 2)) + "Z";
}

void judge_moment(std::int64_t moment) {
  law(moment >= year_zero && moment <= year_ten_thousand, "a date is in the years 0 to 9999");
  if (moment == year_ten_thousand) return;  // leap second at the end of 9999: it has no text form
  const std::string text = format_date(moment);
  law(text.size() == 29 && parse_date(text, now_unix) == moment, "a written date is read back");
  law(parse_date(as_asctime(text), now_unix) == moment, "asctime is the same moment");
  law(parse_basic_date(as_basic(text)) == moment, "so is the basic form");
  const auto two_digits = parse_date(as_rfc850(text), moment);
  law(two_digits == moment, "two digits of a year mean the one that is near");
}

void judge_dates(std::string_view text) {
  const auto date = parse_date(text, now_unix);
  if (date) judge_moment(*date);
  if (date && text[3] == ',' && text.substr(23, 2) != "60")
    law(std::string_view(format_date(*date)).substr(5) == text.substr(5),
        "a date is what is written, but for its day's name");
  if (date && text[3] != ',' && text[3] != ' ')
    law(*date > now_unix - fifty_one_years && *date < now_unix + fifty_one_years, "RFC 850 years are near");
  if (const auto basic = parse_basic_date(text)) judge_moment(*basic);
  for (const std::size_t cut : {std::size_t{1}, text.size() / 2}) {
    if (date && cut < text.size())
      law(!parse_date(text.substr(0, text.size() - cut), now_unix), "a date is whole or none");
  }
}

bool same(const policy::Hints& a, const policy::Hints& b) {
  return a.retry_after == b.retry_after && a.aws_retry_after == b.aws_retry_after && a.said_no == b.said_no &&
         a.from_reprise == b.from_reprise;
}

void judge_pause(const std::optional<policy::Duration>& pause) {
  if (!pause) return;
  law(*pause > policy::Duration::zero(), "no pause is no hint");
  law(*pause <= std::chrono::seconds(std::int64_t{1} << 31U), "a pause is bounded");
}

void judge_hints(std::string_view lines) {
  const std::string text = "HTTP/1.1 " + std::string(mixed(lines) % 2 == 0 ? "503" : "429") + " X\r\n" +
                           std::string(lines) + "\r\n\r\n";
  ResponseHead head;
  if (parse_response(text, {}, "GET", head) != Parsed{Progress::complete}) return;
  const policy::Hints hints = read_hints(head, now_unix);
  judge_pause(hints.retry_after);
  judge_pause(hints.aws_retry_after);
  ResponseHead other = head;
  other.fields.insert(other.fields.end(), head.fields.begin(), head.fields.end());
  law(same(read_hints(other, now_unix), hints), "saying it twice says nothing more");
  if (count_of(head.fields, "date") > 1 || count_of(head.fields, "x-ratelimit-remaining") > 1) return;
  other = head;
  std::reverse(other.fields.begin(), other.fields.end());
  law(same(read_hints(other, now_unix), hints), "the order of fields is of no account");
  other.status = 500;
  const policy::Hints elsewhere = read_hints(other, now_unix);
  law(elsewhere.retry_after.value_or(policy::Duration::zero()) <=
          hints.retry_after.value_or(policy::Duration::zero()),
      "a quota is a pause only where it is the reason");
  law(elsewhere.said_no == hints.said_no, "a no is a no everywhere");
  other.fields.clear();
  law(same(read_hints(other, now_unix), {}), "nothing says nothing");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace reprise::fuzz;
  const std::string_view text = Input(bytes, size).rest();
  judge_dates(text);
  if (text.find(':') != std::string_view::npos) judge_hints(text);
  return 0;
}
