// Tests the retry hints at the end of a call: pushback, and RetryInfo in the details of the status.
#include "proxy/http/grpc/hints.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "proxy/http/grpc/retry_delay.hpp"
#include "tests/grpc/field_lists.hpp"
#include "tests/support/status_details.hpp"

namespace reprise::http {
namespace {

using play::base64;
using play::bytes_field;
using play::detail;
using play::retry_info;
using play::varint;
using play::varint_field;
using policy::Duration;
using std::string;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Duration longest_delay = seconds(std::int64_t{1} << 31);
const string url{play::retry_info_url};

policy::Hints hints(const NamedValues& values) {
  policy::Hints found = read_call_hints(head_fields(values));
  const policy::Hints in_trailers = read_call_hints(trailer_lines(values));
  EXPECT_EQ(found.retry_after, in_trailers.retry_after);
  EXPECT_EQ(found.said_no, in_trailers.said_no);
  EXPECT_FALSE(found.aws_retry_after || found.from_reprise);
  return found;
}

/// Returns the delay of a google.rpc.Status that is given in the wire format.
std::optional<Duration> delay(const string& status) {
  const policy::Hints found = hints({{"grpc-status-details-bin", base64(status)}});
  EXPECT_FALSE(found.said_no);
  return found.retry_after;
}

TEST(CallHints, M76_pushback_is_a_pause_in_milliseconds) {
  const std::pair<const char*, std::optional<Duration>> expected[] = {
      {"0", std::nullopt},
      {"1", milliseconds(1)},
      {"1500", milliseconds(1500)},
      {"2147483647", milliseconds(2147483647)}};
  for (const auto& [value, pause] : expected) {
    const policy::Hints found = hints({{"grpc-retry-pushback-ms", value}});
    EXPECT_EQ(found.retry_after, pause) << value;
    EXPECT_FALSE(found.said_no) << value;
  }
  EXPECT_EQ(hints({{"Grpc-Retry-Pushback-Ms", "5"}}).retry_after, milliseconds(5));
}

TEST(CallHints, M76_pushback_that_is_negative_or_no_number_forbids_the_retry) {
  for (const string value : {"-1", "-0", "+5", "05", "00", "5.0", "5ms", "", "junk", "5 5", "2147483648",
                             "99999999999999999999"}) {
    const policy::Hints found = hints({{"grpc-retry-pushback-ms", value}});
    EXPECT_TRUE(found.said_no) << value;
    EXPECT_EQ(found.retry_after, std::nullopt) << value;
  }
}

TEST(CallHints, other_fields_give_no_hint) {
  const policy::Hints found = hints({{"grpc-retry-pushback-mx", "-1"},
                                     {"grpc-status-details-bim", base64(retry_info(1))},
                                     {"retry-after", "5"},
                                     {"grpc-status", "14"}});
  EXPECT_EQ(found.retry_after, std::nullopt);
  EXPECT_FALSE(found.said_no);
  EXPECT_EQ(hints({}).retry_after, std::nullopt);
}

TEST(CallHints, M77_longest_pause_of_all_fields_wins_but_no_is_no) {
  const string details = base64(retry_info(2));
  EXPECT_EQ(hints({{"grpc-retry-pushback-ms", "1000"}, {"grpc-status-details-bin", details}}).retry_after,
            seconds(2));
  EXPECT_EQ(hints({{"grpc-status-details-bin", details}, {"grpc-retry-pushback-ms", "3000"}}).retry_after,
            seconds(3));
  EXPECT_EQ(hints({{"grpc-retry-pushback-ms", "3"}, {"grpc-retry-pushback-ms", "2"}}).retry_after,
            milliseconds(3));
  const policy::Hints no = hints({{"grpc-retry-pushback-ms", "-1"}, {"grpc-status-details-bin", details}});
  EXPECT_TRUE(no.said_no);
  EXPECT_TRUE(hints({{"grpc-retry-pushback-ms", "-1"}, {"grpc-retry-pushback-ms", "5"}}).said_no);
}

// Encoded by Google's Python library: code 14, a message, a DebugInfo, and a RetryInfo of 1.5 s or -1.5 s.
TEST(CallHints, M77_details_as_a_library_encodes_them_are_read) {
  EXPECT_EQ(read_retry_delay(
                "CA4SBGJ1c3kaLwoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkRlYnVnSW5mbxIDEgF4GjYKKHR5cG"
                "UuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SCgoICAEQgMq17gE="),
            milliseconds(1500));
  EXPECT_EQ(read_retry_delay(
                "CA4aRAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIYChYI////////////ARCAtsqR"
                "/v////8B"),
            std::nullopt);
}

TEST(CallHints, M77_retry_info_is_a_delay) {
  EXPECT_EQ(delay(retry_info(1)), seconds(1));
  EXPECT_EQ(delay(retry_info(0, 1)), nanoseconds(1));
  EXPECT_EQ(delay(retry_info(3, 999'999'999)), seconds(3) + nanoseconds(999'999'999));
  EXPECT_EQ(delay(retry_info((std::int64_t{1} << 31) - 1)), longest_delay - seconds(1));
  EXPECT_EQ(delay(retry_info(std::int64_t{1} << 31, 5)), longest_delay);
  EXPECT_EQ(delay(retry_info(std::numeric_limits<std::int64_t>::max())), longest_delay);
  EXPECT_EQ(delay(detail("/google.rpc.RetryInfo", bytes_field(1, varint_field(1, 4)))), seconds(4));
}

TEST(CallHints, M77_zero_or_negative_delay_is_not_a_hint) {
  EXPECT_EQ(delay(retry_info(0)), std::nullopt);
  EXPECT_EQ(delay(detail(url, "")), std::nullopt);
  EXPECT_EQ(delay(retry_info(-1)), std::nullopt);
  EXPECT_EQ(delay(retry_info(0, -1)), std::nullopt);
  EXPECT_EQ(delay(retry_info(1, -1)), std::nullopt);
  EXPECT_EQ(delay(retry_info(-1, 500)), std::nullopt);
  EXPECT_EQ(delay(retry_info(1, 1'000'000'000)), std::nullopt);
  EXPECT_EQ(delay(""), std::nullopt);
}

TEST(CallHints, M77_unknown_fields_and_other_details_are_skipped) {
  const string fixed = varint(9U << 3U | 1U) + string(8, 'x') + varint(10U << 3U | 5U) + string(4, 'x');
  const string unknown = fixed + varint_field(11, ~std::uint64_t{0}) + bytes_field(12, "text");
  const string info = bytes_field(1, unknown + varint_field(1, 7) + unknown) + unknown;
  EXPECT_EQ(delay(varint_field(1, 14) + bytes_field(2, "busy") + unknown +
                  bytes_field(3, unknown + bytes_field(1, url) + unknown + bytes_field(2, info)) + unknown),
            seconds(7));
  const string other = "type.googleapis.com/google.rpc.";
  EXPECT_EQ(delay(detail(other + "DebugInfo", bytes_field(1, varint_field(1, 9))) + retry_info(2)),
            seconds(2));
  for (const string type :
       {"google.rpc.RetryInfo", "x/google.rpc.RetryInfos", "x/my.google.rpc.RetryInfo", ""})
    EXPECT_EQ(delay(detail(type, bytes_field(1, varint_field(1, 9)))), std::nullopt) << type;
}

TEST(CallHints, M77_field_of_another_type_is_skipped) {
  EXPECT_EQ(delay(varint_field(3, 5) + retry_info(2)), seconds(2));
  EXPECT_EQ(delay(detail(url, varint_field(1, 5))), std::nullopt);
  EXPECT_EQ(delay(detail(url, bytes_field(1, bytes_field(1, "x") + varint_field(1, 3)))), seconds(3));
}

TEST(CallHints, M77_longest_of_several_delays_wins_and_a_repeated_message_is_merged) {
  EXPECT_EQ(delay(retry_info(2) + retry_info(5) + retry_info(3)), seconds(5));
  EXPECT_EQ(delay(retry_info(-2) + retry_info(5)), seconds(5));
  const string twice = bytes_field(1, varint_field(1, 4)) + bytes_field(1, varint_field(2, 6));
  EXPECT_EQ(delay(detail(url, twice)), seconds(4) + nanoseconds(6));
}

TEST(CallHints, M77_malformed_message_is_not_a_hint) {
  const string good = retry_info(5);
  for (std::size_t size = 1; size < good.size(); ++size)
    EXPECT_EQ(delay(good.substr(0, size)), std::nullopt) << size;
  const std::pair<const char*, string> rows[] = {
      {"field number 0", string("\x00\x01", 2)},
      {"start of a group", string("\x0b\x0c")},
      {"end of a group", string("\x0c")},
      {"wire type 6", string("\x0e\x01")},
      {"wire type 7", string("\x0f\x01")},
      {"number above 2^29 - 1", varint(std::uint64_t{1} << 32U) + varint(1)},
      {"varint of 11 bytes", varint(8) + string(10, '\xff') + "\x01"},
      {"varint above 2^64 - 1", varint(8) + string(9, '\xff') + "\x02"},
      {"varint without end", varint(8) + "\x80"},
      {"length without bytes", varint(1U << 3U | 2U) + varint(1)},
      {"length of 2^64 - 1", varint(1U << 3U | 2U) + varint(~std::uint64_t{0}) + "x"},
      {"fixed64 of 7 bytes", varint(1U << 3U | 1U) + string(7, 'x')},
      {"fixed32 of 3 bytes", varint(1U << 3U | 5U) + string(3, 'x')}};
  for (const auto& [name, bytes] : rows) {
    EXPECT_EQ(delay(good + bytes), std::nullopt) << name;
    EXPECT_EQ(delay(bytes_field(3, bytes) + good), std::nullopt) << name << " in a detail";
    EXPECT_EQ(delay(detail(url, bytes_field(1, varint_field(1, 9)) + bytes) + good), seconds(5)) << name;
    EXPECT_EQ(delay(detail(url, bytes_field(1, varint_field(1, 9) + bytes)) + good), seconds(5)) << name;
  }
}

TEST(CallHints, M77_base64_is_read_with_and_without_padding) {
  for (std::size_t extra = 0; extra < 3; ++extra) {
    const string status = retry_info(5) + bytes_field(2, string(extra, 'm'));
    EXPECT_EQ(read_retry_delay(play::base64(status)), seconds(5)) << extra;
    EXPECT_EQ(read_retry_delay(play::padded_base64(status)), seconds(5)) << extra;
  }
}

TEST(CallHints, M77_malformed_base64_is_not_a_hint) {
  const string status = retry_info(5) + bytes_field(2, "m");
  const string good = play::base64(status);
  ASSERT_EQ(read_retry_delay(good), seconds(5));
  ASSERT_EQ(good.size() % 4, 3U);
  for (const string& bad : {good + "==", good + "A=", "=" + good, good.substr(0, 8) + "=" + good.substr(9),
                            good + "AA", " " + good, good + "\n", good + "-", good.substr(1), good + "AAA===",
                            good + "\x80", "-" + good.substr(1), "_" + good.substr(1), good + "," + good})
    EXPECT_EQ(read_retry_delay(bad), std::nullopt) << bad;
  for (const string bad : {"", "=", "==", "====", "A", "A===", "AA=", "AB=C"})
    EXPECT_EQ(read_retry_delay(bad), std::nullopt) << bad;
}

TEST(CallHints, M77_at_most_16_kib_are_decoded) {
  constexpr std::size_t limit = 16 * 1024;
  const string info = retry_info(5);
  const std::size_t head = bytes_field(2, string(limit - 100, 'm')).size() - (limit - 100);
  const auto of_size = [&](std::size_t size) {
    return info + bytes_field(2, string(size - info.size() - head, 'm'));
  };
  ASSERT_EQ(of_size(limit).size(), limit);
  EXPECT_EQ(delay(of_size(limit)), seconds(5));
  EXPECT_EQ(delay(of_size(limit + 1)), std::nullopt);
  EXPECT_EQ(read_retry_delay(play::padded_base64(of_size(limit))), seconds(5));
  EXPECT_EQ(read_retry_delay(play::padded_base64(of_size(limit + 1))), std::nullopt);
}

TEST(CallHints, M77_every_letter_of_base64_is_read) {
  string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const string status = retry_info(5) + bytes_field(2, bytes);
  ASSERT_NE(base64(status).find('+'), string::npos);
  ASSERT_NE(base64(status).find('/'), string::npos);
  EXPECT_EQ(delay(status), seconds(5));
}

TEST(CallHints, M77_field_whose_number_is_too_large_makes_the_details_malformed) {
  EXPECT_EQ(delay(retry_info(5) + varint_field(1, 5)), seconds(5));
  EXPECT_EQ(delay(retry_info(5) + varint_field(std::uint64_t{1} << 31, 5)), std::nullopt);
}

TEST(CallHints, M76_trailer_line_without_a_colon_is_skipped) {
  EXPECT_EQ(read_call_hints("nothing\r\ngrpc-retry-pushback-ms: 5\r\n").retry_after, milliseconds(5));
}

}  // namespace
}  // namespace reprise::http
