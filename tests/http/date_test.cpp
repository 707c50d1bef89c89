// Tests the three forms of HTTP dates, and the dates of signed requests.
#include "proxy/http/retry_hints/date.hpp"

#include <gtest/gtest.h>

namespace reprise::http {
namespace {

using std::string;

constexpr std::int64_t example = 784111777;  // the date in the examples of RFC 9110 5.6.7
constexpr std::int64_t now = 1700000000;     // Tue, 14 Nov 2023 22:13:20 GMT

TEST(Date, all_three_http_date_formats_are_parsed) {
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now), example);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", now), example);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", now), example);
  EXPECT_EQ(parse_date("Tue Nov 14 22:13:20 2023", now), now);
}

TEST(Date, two_digit_years_are_resolved_near_the_current_year) {
  EXPECT_EQ(parse_date("Tuesday, 14-Nov-23 22:13:20 GMT", now), now);
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-73 00:00:00 GMT", now),
            parse_date("Tue, 01 Jan 2073 00:00:00 GMT", now));
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-74 00:00:00 GMT", now),
            parse_date("Tue, 01 Jan 1974 00:00:00 GMT", now));
  const std::int64_t late = 3976214400;  // 2096
  EXPECT_EQ(parse_date("Tuesday, 01-Jan-02 00:00:00 GMT", late),
            parse_date("Tue, 01 Jan 2102 00:00:00 GMT", late));
}

TEST(Date, february_29_is_accepted_only_in_leap_years) {
  EXPECT_EQ(parse_date("Thu, 29 Feb 2024 00:00:00 GMT", now), 1709164800);
  EXPECT_EQ(parse_date("Tue, 29 Feb 2000 00:00:00 GMT", now), 951782400);
  EXPECT_EQ(parse_date("Wed, 29 Feb 2023 00:00:00 GMT", now), std::nullopt);
  EXPECT_EQ(parse_date("Mon, 29 Feb 2100 00:00:00 GMT", now), std::nullopt);
}

TEST(Date, malformed_dates_are_rejected) {
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
                            "Sun Nov  6 08:49:37 1994 ",
                            "Sun Nov  6 08:49:37 94 GMT",
                            "Sun Nov 6  08:49:37 1994",
                            "Sun Nov 31 08:49:37 1994",
                            "Sun, 06-Nov-94 08:49:37 GMT",
                            "Sunday, 06-Nov-1994 08:49:37 GMT",
                            "2024-02-29T00:00:00Z, and more to be long"}) {
    EXPECT_EQ(parse_date(text, now), std::nullopt) << text;
  }
}

TEST(Date, basic_iso_8601_dates_of_signatures_are_parsed_strictly) {
  EXPECT_EQ(parse_basic_date("20231114T221320Z"), now);
  EXPECT_EQ(parse_basic_date("19700101T000000Z"), 0);
  EXPECT_EQ(parse_basic_date("20240229T000000Z"), 1709164800);
  for (const string text :
       {"", "20231114", "20231114T221320", "20231114T221320z", "20231114t221320Z", "2023-11-14T22:13:20Z",
        "20231114T221320Z ", " 20231114T221320Z", "20231314T221320Z", "20230229T000000Z", "20231114T241320Z",
        "20231114T226020Z", "20231114T221361Z", "20231100T221320Z", "20230014T221320Z", "2023111xT221320Z",
        "-0231114T221320Z"}) {
    EXPECT_EQ(parse_basic_date(text), std::nullopt) << text;
  }
}

TEST(Date, formatted_dates_parse_back_to_the_same_time) {
  EXPECT_EQ(format_date(example), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  for (std::int64_t time = 0; time < 4102444800; time += 86400 * 31 + 3661) {
    ASSERT_EQ(parse_date(format_date(time), now), time);
  }
}

}  // namespace
}  // namespace reprise::http
