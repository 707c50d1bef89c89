#include "config/keys/scalar.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::config {
namespace {

using namespace std::chrono_literals;

struct Refused {
  std::string text;
  std::string part_of_reason;
  std::string suggestion;
};

template <typename T>
void expect_refused(Parsed<T> (*parse)(std::string_view), const std::vector<Refused>& table) {
  for (const Refused& row : table) {
    const auto parsed = parse(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.reason.find(row.part_of_reason), std::string::npos) << row.text << ": " << parsed.reason;
    EXPECT_EQ(parsed.suggestion, row.suggestion) << row.text;
  }
}

TEST(Duration, duration_is_a_sequence_of_numbers_with_units) {
  const std::vector<std::pair<std::string, Duration>> table{
      {"0", 0s},        {"0s", 0s},          {"250ms", 250ms},      {"10s", 10s},
      {"1m30s", 90s},   {"1h", 1h},          {"2h0m5s", 2h + 5s},   {"1.5s", 1500ms},
      {"0.5us", 500ns}, {"7us", 7us},        {"1m1ms", 1min + 1ms}, {"8760h", 8760h},
      {"90s", 90s},     {"1s500ms", 1500ms},
  };
  for (const auto& [text, value] : table) EXPECT_EQ(parse_duration(text).value, value) << text;
}

TEST(Duration, ambiguous_durations_are_rejected) {
  expect_refused(parse_duration, {{"250", "no unit", "250s or 250ms"},
                                  {"1.5", "no unit", "1.5s or 1.5ms"},
                                  {"", "not a duration", ""},
                                  {"s", "not a duration", ""},
                                  {"-1s", "not a duration", ""},
                                  {"+1s", "not a duration", ""},
                                  {"1 s", "not a duration", "1s"},
                                  {" 1s", "not a duration", "1s"},
                                  {"1S", "lower case", "1s"},
                                  {"1d", "units: us, ms, s, m, h", "24h"},
                                  {"1sec", "units: us, ms, s, m, h", "1s"},
                                  {"1s1s", "twice or in the wrong order", ""},
                                  {"1s1m", "twice or in the wrong order", ""},
                                  {"1.2.3s", "not a duration", ""},
                                  {"1.s", "not a duration", ""},
                                  {".5s", "not a duration", ""},
                                  {"010s", "not a duration", ""},
                                  {"0x1Fs", "not a duration", ""},
                                  {"1e3s", "not a duration", ""},
                                  {"9999999h", "too long", ""},
                                  {"99999999999999999999s", "too long", ""},
                                  {"9999999.5h", "too long", ""},
                                  {"2562047h9999m", "too long", ""}});
}

TEST(Size, size_is_a_number_with_a_unit) {
  const std::vector<std::pair<std::string, std::uint64_t>> table{
      {"0", 0},         {"0B", 0},          {"512B", 512},
      {"64KiB", 65536}, {"1MiB", 1048576},  {"2GiB", 2ULL << 30U},
      {"10KB", 10000},  {"10MB", 10000000}, {"1GB", 1000000000},
      {"1.5KiB", 1536}};
  for (const auto& [text, value] : table) EXPECT_EQ(parse_size(text).value, value) << text;
}

TEST(Size, ambiguous_sizes_are_rejected) {
  expect_refused(parse_size, {{"64", "no unit", "64B or 64KiB"},
                              {"64k", "not a size", "64KiB"},
                              {"64kb", "not a size", "64KB"},
                              {"64kib", "not a size", "64KiB"},
                              {"64M", "not a size", "64MiB"},
                              {"64XB", "not a size", ""},
                              {"KiB", "not a size", ""},
                              {"-1B", "not a size", ""},
                              {"", "not a size", ""},
                              {"64 KiB", "not a size", ""},
                              {"99999999999GiB", "too large", ""},
                              {"99999999999.5GiB", "too large", ""}});
}

TEST(Ratio, ratio_is_a_percentage_or_fraction) {
  EXPECT_EQ(parse_ratio("20%").value, 0.2);
  EXPECT_EQ(parse_ratio("0.2").value, 0.2);
  EXPECT_EQ(parse_ratio("0").value, 0);
  EXPECT_EQ(parse_ratio("1").value, 1);
  EXPECT_EQ(parse_ratio("100%").value, 1);
  EXPECT_EQ(parse_ratio("0.5%").value, 0.005);
  expect_refused(parse_ratio, {{"20", "more than 100%", "20%"},
                               {"101%", "more than 100%", ""},
                               {"1.01", "more than 100%", "1.01%"},
                               {"-1%", "not a ratio", ""},
                               {"%", "not a ratio", ""},
                               {"20 %", "not a ratio", ""},
                               {"nan", "not a ratio", ""},
                               {"inf", "not a ratio", ""}});
}

TEST(Rate, rate_is_a_number_per_second) {
  EXPECT_EQ(parse_rate("10/s").value, 10);
  EXPECT_EQ(parse_rate("0.5/s").value, 0.5);
  EXPECT_EQ(parse_rate("0").value, 0);
  expect_refused(parse_rate,
                 {{"10", "no unit", "10/s"}, {"10/m", "not a rate", ""}, {"/s", "not a rate", ""}});
}

TEST(Boolean, boolean_is_true_or_false) {
  EXPECT_EQ(parse_boolean("true").value, true);
  EXPECT_EQ(parse_boolean("false").value, false);
  expect_refused(parse_boolean, {{"on", "true or false", "true"},
                                 {"Yes", "true or false", "true"},
                                 {"True", "true or false", "true"},
                                 {"off", "true or false", "false"},
                                 {"0", "true or false", "false"},
                                 {"maybe", "true or false", ""},
                                 {"", "true or false", ""}});
}

TEST(Whole, whole_number_has_only_decimal_digits) {
  EXPECT_EQ(parse_whole("0").value, 0U);
  EXPECT_EQ(parse_whole("18446744073709551615").value, 18446744073709551615U);
  expect_refused(parse_whole, {{"010", "starts with a zero", "10"},
                               {"00", "starts with a zero", "0"},
                               {"0x1F", "not a whole number", ""},
                               {"1_000", "not a whole number", ""},
                               {"-1", "not a whole number", ""},
                               {"+1", "not a whole number", ""},
                               {"4.0", "not a whole number", ""},
                               {"", "not a whole number", ""},
                               {"18446744073709551616", "too large", ""}});
}

TEST(Number, number_has_digits_and_an_optional_decimal_point) {
  EXPECT_EQ(parse_number("2").value, 2);
  EXPECT_EQ(parse_number("1.5").value, 1.5);
  expect_refused(parse_number,
                 {{"1,5", "not a number", ""}, {"2e9", "not a number", ""}, {"0x2", "not a number", ""}});
}

TEST(Statuses, entry_may_be_a_status_or_a_range_or_a_class) {
  const auto expect = [](std::string_view text, int first, int last) {
    const auto parsed = parse_statuses(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed.value->first, first) << text;
    EXPECT_EQ(parsed.value->last, last) << text;
  };
  expect("503", 503, 503);
  expect("500-599", 500, 599);
  expect("5xx", 500, 599);
  expect("2xx", 200, 299);
  expect("999", 999, 999);
  expect("9xx", 900, 999);
  expect_refused(parse_statuses, {{"5XX", "is not a status", "5xx"},
                                  {"1xx", "is not a status", ""},
                                  {"199", "is not a status", ""},
                                  {"1000", "is not a status", ""},
                                  {"500-1000", "is not a status", ""},
                                  {"599-500", "is in the wrong order", ""},
                                  {"-", "is not a status", ""},
                                  {"", "is not a status", ""},
                                  {"0503", "is not a status", ""}});
}

TEST(Text, printed_value_parses_to_the_same_value) {
  for (const Duration duration :
       std::vector<Duration>{0s, 1ms, 250ms, 90s, 1h, 1h + 1us, 1500ns, 8760h, 61s + 5ms})
    EXPECT_EQ(parse_duration(duration_text(duration)).value, duration) << duration_text(duration);
  for (const std::uint64_t size :
       std::vector<std::uint64_t>{0, 1, 1000, 1024, 65536, 1536, 10000000, 1ULL << 40U})
    EXPECT_EQ(parse_size(size_text(size)).value, size) << size_text(size);
  for (const double ratio : {0.0, 0.07, 0.2, 0.3, 0.333333333333, 1.0, 0.00001})
    EXPECT_EQ(parse_ratio(ratio_text(ratio)).value, ratio) << ratio_text(ratio);
  for (const double rate : {0.0, 0.1, 10.0, 1000000.0}) EXPECT_EQ(parse_rate(rate_text(rate)).value, rate);
  for (const double number : {1.0, 1.1, 1.5, 2.0, 1000.0})
    EXPECT_EQ(parse_number(number_text(number)).value, number);
}

TEST(Text, values_are_printed_in_their_short_form) {
  EXPECT_EQ(duration_text(90s), "1m30s");
  EXPECT_EQ(duration_text(0s), "0s");
  EXPECT_EQ(size_text(65536), "64KiB");
  EXPECT_EQ(ratio_text(0.2), "20%");
  EXPECT_EQ(rate_text(10), "10/s");
  EXPECT_EQ(number_text(2), "2");
}

}  // namespace
}  // namespace reprise::config
