// Tests how grpc-timeout is read and written.
#include "proxy/http/grpc/timeout.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"

#include <chrono>

namespace reprise::http {
namespace {

using policy::Duration;
using std::string;
using namespace std::chrono_literals;

constexpr Duration longest_timeout = std::chrono::seconds(std::int64_t{1} << 31);

TEST(CallTimeout, M87_up_to_8_digits_and_a_unit_are_a_time) {
  const std::pair<const char*, Duration> expected[] = {{"1H", 1h},
                                                       {"1M", 1min},
                                                       {"1S", 1s},
                                                       {"1m", 1ms},
                                                       {"1u", 1us},
                                                       {"1n", 1ns},
                                                       {"0n", 0ns},
                                                       {"0H", 0ns},
                                                       {"00000005S", 5s},
                                                       {"99999999n", 99999999ns},
                                                       {"99999999u", 99999999us},
                                                       {"99999999m", 99999999ms},
                                                       {"99999999S", 99999999s},
                                                       {"35791394M", 35791394min},
                                                       {"35791395M", longest_timeout},
                                                       {"596523H", 596523h},
                                                       {"596524H", longest_timeout},
                                                       {"99999999M", longest_timeout},
                                                       {"99999999H", longest_timeout}};
  for (const auto& [value, time] : expected) EXPECT_EQ(parse_timeout(value), time) << value;
}

TEST(CallTimeout, M88_malformed_value_is_no_timeout) {
  for (const string value : {"",    "S",   "1",  "12345678", "123456789", "123456789S", "000000001S", "1s",
                             "1h",  "1U",  "1N", "1ms",      "+1S",       "-1S",        "1.5S",       " 1S",
                             "1S ", "1 S", "S1", "1SS",      "1\tS",      "0x1S",       "1e3m",       "1,2S"})
    EXPECT_EQ(parse_timeout(value), std::nullopt) << value;
  EXPECT_EQ(parse_timeout(std::string_view("1\0", 2)), std::nullopt);
}

TEST(CallTimeout, M87_remaining_time_is_written_in_ms_rounded_down_but_at_least_1) {
  const std::pair<Duration, const char*> expected[] = {{-1h, "1m"},
                                                       {0ns, "1m"},
                                                       {1ns, "1m"},
                                                       {999999ns, "1m"},
                                                       {1ms, "1m"},
                                                       {1999999ns, "1m"},
                                                       {2ms, "2m"},
                                                       {2ms - 1ns, "1m"},
                                                       {1s, "1000m"},
                                                       {1h, "3600000m"},
                                                       {99999999ms, "99999999m"},
                                                       {100000000ms - 1ns, "99999999m"},
                                                       {100000000ms, "100000S"}};
  for (const auto& [left, value] : expected) EXPECT_EQ(format_timeout(left), value) << left.count();
}

TEST(CallTimeout, M87_longer_times_are_written_in_the_smallest_unit_that_fits) {
  const std::pair<Duration, const char*> expected[] = {
      {100001s - 1ns, "100000S"},    {99999999s, "99999999S"},   {100000000s - 1ns, "99999999S"},
      {100000000s, "1666666M"},      {99999999min, "99999999M"}, {100000000min, "1666666H"},
      {Duration::max(), "2562047H"}, {Duration::min(), "1m"}};
  for (const auto& [left, value] : expected) EXPECT_EQ(format_timeout(left), value) << left.count();
}

TEST(CallTimeout, M88_timeout_that_is_malformed_or_repeated_is_no_timeout) {
  const std::pair<string, string> cases[] = {{"", ""},
                                             {"grpc-timeout: 5S\r\n", "5S"},
                                             {"x: 1\r\nGrpc-Timeout: 100m\r\n", "100m"},
                                             {"grpc-timeout: 5\r\n", ""},
                                             {"grpc-timeout: 5S\r\ngrpc-timeout: 5S\r\n", ""}};
  for (const auto& [fields, timeout] : cases) {
    const string text = "POST /a.B/C HTTP/1.1\r\nHost: a.test\r\n" + fields + "\r\n";
    RequestHead head;
    ASSERT_EQ(parse_request(text, {}, head), Parsed{Progress::complete});
    EXPECT_EQ(timeout_of(head), timeout) << fields;
  }
}

}  // namespace
}  // namespace reprise::http
