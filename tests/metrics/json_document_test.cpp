#include "proxy/telemetry/log/json_document.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <limits>

namespace reprise::telemetry {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

std::string text_of_number(double number) { return document_text(json::object{{"n", number}}); }

TEST(JsonDocument, number_has_no_exponent_and_only_the_digits_that_it_needs) {
  EXPECT_EQ(text_of_number(30), R"({"n":30})");
  EXPECT_EQ(text_of_number(0.1), R"({"n":0.1})");
  EXPECT_EQ(text_of_number(-1e-7), R"({"n":-0.0000001})");
  EXPECT_EQ(text_of_number(1e21), R"({"n":1000000000000000000000})");
  constexpr std::string_view opening = R"({"n":)";
  for (const double extreme : {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(),
                               std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()})
    EXPECT_EQ(std::strtod(text_of_number(extreme).c_str() + opening.size(), nullptr), extreme);
}

TEST(JsonDocument, non_finite_number_is_written_as_null) {
  EXPECT_EQ(text_of_number(std::numeric_limits<double>::infinity()), R"({"n":null})");
  EXPECT_EQ(text_of_number(std::numeric_limits<double>::quiet_NaN()), R"({"n":null})");
}

TEST(JsonDocument, whole_numbers_keep_every_digit) {
  const json::object document{{"highest", std::numeric_limits<std::uint64_t>::max()},
                              {"lowest", std::numeric_limits<std::int64_t>::min()}};
  EXPECT_EQ(document_text(document), R"({"highest":18446744073709551615,"lowest":-9223372036854775808})");
}

TEST(JsonDocument, members_keep_their_order) {
  json::object document;
  for (const char* name : {"z", "a", "m"}) document[name] = json::array{true, nullptr, json::object()};
  EXPECT_EQ(document_text(document), R"({"z":[true,null,{}],"a":[true,null,{}],"m":[true,null,{}]})");
}

TEST(JsonDocument, invalid_utf8_and_invisible_characters_are_escaped_in_names_and_values) {
  const std::string_view nasty = "a\"\xff\x1b\u202e";
  EXPECT_EQ(document_text(json::object{{nasty, nasty}}),
            R"({"a\"\ufffd\u001b\u202e":"a\"\ufffd\u001b\u202e"})");
}

TEST(JsonDocument, list_is_written_with_one_item_per_line) {
  EXPECT_EQ(document_lines({}), "[]\n");
  EXPECT_EQ(document_lines({json::object{{"a", 1}}, "b"}), "[\n{\"a\":1},\n\"b\"\n]\n");
}

TEST(InMilliseconds, milliseconds_are_exact_to_the_microsecond_and_never_negative) {
  EXPECT_EQ(in_milliseconds(nanoseconds(1'234'567'999)), 1234.567);
  EXPECT_EQ(in_milliseconds(microseconds(-5)), 0);
  EXPECT_TRUE(milliseconds_or_null({}).is_null());
}

TEST(Rounded, rounded_number_equals_its_printed_decimals_read_back) {
  EXPECT_EQ(rounded(1.0 / 3, 3), 0.333);
  EXPECT_EQ(rounded(0.0625, 3), 0.062) << "a tie goes to the even digit, as in print";
  EXPECT_EQ(rounded(1e300, 3), 1e300);
  EXPECT_EQ(rounded(std::numeric_limits<double>::infinity(), 3), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace reprise::telemetry
