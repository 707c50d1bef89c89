// HTTP dates in their three forms, and what an answer says about when to come back.
#include "proxy/http/date.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

constexpr std::int64_t example = 784111777;  // the instant of RFC 9110 5.6.7
constexpr std::int64_t now = 1700000000;     // Tue, 14 Nov 2023 22:13:20 GMT

TEST(Date, the_three_forms) {
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now), example);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", now), example);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", now), example);
  EXPECT_EQ(parse_date("Tue Nov 14 22:13:20 2023", now), now);
}

TEST(Date, years_of_two_digits_are_near_now) {
  EXPECT_EQ(parse_date("Tuesday, 14-Nov-23 22:13:20 GMT", now), now);
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-73 00:00:00 GMT", now),
            parse_date("Tue, 01 Jan 2073 00:00:00 GMT", now));
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-74 00:00:00 GMT", now),
            parse_date("Tue, 01 Jan 1974 00:00:00 GMT", now));
  const std::int64_t late = 3976214400;  // 2096
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-02 00:00:00 GMT", late),
            parse_date("Tue, 01 Jan 2102 00:00:00 GMT", late));
}

TEST(Date, leap_years) {
  EXPECT_EQ(parse_date("Thu, 29 Feb 2024 00:00:00 GMT", now), 1709164800);
  EXPECT_EQ(parse_date("Tue, 29 Feb 2000 00:00:00 GMT", now), 951782400);
  EXPECT_EQ(parse_date("Wed, 29 Feb 2023 00:00:00 GMT", now), std::nullopt);
  EXPECT_EQ(parse_date("Mon, 29 Feb 2100 00:00:00 GMT", now), std::nullopt);
}

TEST(Date, junk_is_no_date) {
  for (const string text : {"",
                            "0",
                            "-1",
                            "junk",
                            "Sun, 06 Nov 1994 08:49:37",
                            "Sun, 06 Nov 1994 08:49:37 UTC",
                            "Sun, 6 Nov 1994 08:49:37 GMT",
                            "sun, 06 nov 1994 08:49:37 gmt",
                            "Son, 06 Nov 1994 08:49:37 GMT",
                            "Sun, 06 Nov 1994 24:00:00 GMT",
                            "Sun, 06 Nov 1994 08:60:37 GMT",
                            "Sun, 06 Nov 1994 08:49:61 GMT",
                            "Sun, 00 Nov 1994 08:49:37 GMT",
                            "Sun, 31 Nov 1994 08:49:37 GMT",
                            "Sun, 06 Nov 1994 08:49:37 GMT ",
                            " Sun, 06 Nov 1994 08:49:37 GMT",
                            "Sun, 06  Nov 1994 08:49:37 GMT",
                            "Sun, 06 Nov 19x4 08:49:37 GMT",
                            "Sun Nov 6 08:49:37 1994",
                            "Sun Nov  6 08:49:37 94",
                            "Sun, 06-Nov-94 08:49:37 GMT",
                            "Sunday, 06-Nov-1994 08:49:37 GMT",
                            "2024-02-29T00:00:00Z, and more to be long"}) {
    EXPECT_EQ(parse_date(text, now), std::nullopt) << text;
  }
}

TEST(Date, formats_what_it_reads) {
  EXPECT_EQ(format_date(example), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  for (std::int64_t time = 0; time < 4102444800; time += 86400 * 31 + 3661) {
    ASSERT_EQ(parse_date(format_date(time), now), time);
  }
}

policy::Hints hints(const string& lines) { return read_hints(ReadResponse(ok(lines)).head, now); }

TEST(Hints, seconds) {
  EXPECT_EQ(hints("Retry-After: 120\r\n").retry_after, std::chrono::seconds(120));
  EXPECT_EQ(hints("Retry-After:  007 \r\n").retry_after, std::chrono::seconds(7));
  for (const string value : {"0", "-1", "+1", "1.5", "1s", "", "soon", "0x10"}) {
    EXPECT_EQ(hints("Retry-After: " + value + "\r\n").retry_after, std::nullopt) << value;
  }
  EXPECT_EQ(hints("").retry_after, std::nullopt);
}

TEST(Hints, a_number_beyond_all_measure_is_a_very_long_time) {
  EXPECT_EQ(hints("Retry-After: 99999999999999999999999\r\n").retry_after,
            std::chrono::seconds(std::int64_t{1} << 31));
}

TEST(Hints, dates_count_from_the_answers_own_date) {
  const string later = "Retry-After: Tue, 14 Nov 2023 22:14:20 GMT\r\n";  // now + 60 s
  EXPECT_EQ(hints(later).retry_after, std::chrono::seconds(60));
  EXPECT_EQ(hints(later + "Date: Tue, 14 Nov 2023 22:14:00 GMT\r\n").retry_after, std::chrono::seconds(20));
  EXPECT_EQ(hints(later + "Date: junk\r\n").retry_after, std::chrono::seconds(60));
  EXPECT_EQ(hints(later + "Date: Tue, 14 Nov 2023 23:00:00 GMT\r\n").retry_after, std::nullopt);
}

TEST(Hints, the_longest_of_several_wins) {
  EXPECT_EQ(hints("Retry-After: 5\r\nRetry-After: 9\r\nRetry-After: junk\r\nRetry-After: 7\r\n").retry_after,
            std::chrono::seconds(9));
}

TEST(Hints, explicit_pushback) {
  EXPECT_TRUE(hints("x-should-retry: false\r\n").said_no);
  EXPECT_TRUE(hints("grpc-retry-pushback-ms: -1\r\n").said_no);
  EXPECT_FALSE(hints("x-should-retry: true\r\n").said_no);
  EXPECT_FALSE(hints("grpc-retry-pushback-ms: 100\r\n").said_no);
  EXPECT_FALSE(hints("Retry-After: 5\r\n").said_no);
}

}  // namespace
}  // namespace reprise::http
