// Tests how `explain` writes time spans, and how it arranges a page in two columns.
#include "proxy/tools/explain/page.hpp"

#include <gtest/gtest.h>

namespace reprise::tools {
namespace {

using namespace std::chrono_literals;

TEST(Span, spans_below_a_second_are_milliseconds_without_trailing_zeros) {
  EXPECT_EQ(span(0s), "0s");
  EXPECT_EQ(span(-1ms), "0s") << "clocks that were read in another order";
  EXPECT_EQ(span(250ms), "250ms");
  EXPECT_EQ(span(1500us), "1.5ms");
  EXPECT_EQ(span(1us), "0.001ms");
}

TEST(Span, spans_of_a_second_or_more_are_hours_and_minutes_and_seconds_without_zero_parts) {
  EXPECT_EQ(span(1s), "1s");
  EXPECT_EQ(span(1750ms), "1.75s");
  EXPECT_EQ(span(1min), "1m");
  EXPECT_EQ(span(105s), "1m45s");
  EXPECT_EQ(span(61500ms), "1m1.5s");
  EXPECT_EQ(span(999'999'900ns), "1s");
  EXPECT_EQ(span(59'999'900us), "1m");
  EXPECT_EQ(span(3'599'999'900us), "1h");
  EXPECT_EQ(span(1h), "1h");
  EXPECT_EQ(span(1h + 1s), "1h1s");
  EXPECT_EQ(span(25h + 30min + 5s), "25h30m5s");
}

TEST(Between, range_of_equal_bounds_is_printed_as_one_span) {
  EXPECT_EQ(between(125ms, 250ms), "125ms to 250ms");
  EXPECT_EQ(between(250ms, 250ms), "250ms");
}

TEST(TextPage, repeated_heading_is_printed_only_once) {
  TextPage page;
  page.line("route", "api");
  page.line("attempt 1", "at 0s");
  page.line("attempt 1", "503");
  page.line("route", "again");
  EXPECT_EQ(page.take(),
            "route       api\n"
            "attempt 1   at 0s\n"
            "            503\n"
            "route       again\n");
}

}  // namespace
}  // namespace reprise::tools
