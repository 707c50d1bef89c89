// Tests the parsing of byte ranges and entity tags: what is accepted, and the many forms that are rejected.
#include "proxy/policy/match/byte_range.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {
namespace {

TEST(Range, single_byte_range_is_parsed) {
  EXPECT_EQ(parse_range("bytes=0-"), (ByteRange{0, std::nullopt}));
  EXPECT_EQ(parse_range("bytes=7-7"), (ByteRange{7, 7}));
  EXPECT_EQ(parse_range("BYTES=007-9999999999999999999"), (ByteRange{7, 9'999'999'999'999'999'999U}));
}

TEST(Range, suffix_and_multiple_and_malformed_ranges_are_rejected) {
  for (const char* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=-",
                            "bytes=-5",
                            "bytes=5",
                            "bytes=5-4",
                            "bytes=1-2,4-5",
                            "bytes=1-2,",
                            "bytes= 1-2",
                            "bytes=1 -2",
                            "bytes =1-2",
                            "bytes=1-2 ",
                            "items=1-2",
                            "byte=1-2",
                            "bytes:1-2",
                            "bytes=+1-2",
                            "bytes=0x1-2",
                            "bytes=1-2-3",
                            "bytes=1--2",
                            "bytes=10000000000000000000-",
                            "bytes=1-18446744073709551616"}) {
    EXPECT_EQ(parse_range(value), std::nullopt) << value;
  }
}

TEST(ContentRange, content_range_is_parsed_with_and_without_the_complete_length) {
  EXPECT_EQ(parse_content_range("bytes 0-0/1"), (ContentRange{0, 0, 1}));
  EXPECT_EQ(parse_content_range("Bytes 5-9/10"), (ContentRange{5, 9, 10}));
  EXPECT_EQ(parse_content_range("bytes 5-9/*"), (ContentRange{5, 9, std::nullopt}));
  EXPECT_EQ(parse_content_range("bytes 0-9999999999999999998/9999999999999999999"),
            (ContentRange{0, 9'999'999'999'999'999'998U, 9'999'999'999'999'999'999U}));
  EXPECT_EQ(parse_content_range("bytes 5-9/10")->bytes(), 5U);
}

TEST(ContentRange, E3_unsatisfied_and_malformed_content_ranges_are_rejected) {
  for (const char* value : {"",
                            "bytes",
                            "bytes ",
                            "bytes 0-1",
                            "bytes 0-1/",
                            "bytes 1-0/9",
                            "bytes 0-9/9",
                            "bytes 0-9/0",
                            "bytes */9",
                            "bytes 0/1-2",
                            "bytes=0-1/2",
                            "bytes  0-1/2",
                            "bytes 0-1/2 ",
                            "bytes 0-1 /2",
                            "bytes 0-1/ 2",
                            "items 0-1/2",
                            "0-1/2",
                            "bytes -1/2",
                            "bytes 0-/2",
                            "bytes 0-1/**",
                            "bytes 0-1/-2",
                            "bytes 0-1/2/3",
                            "bytes 0-99999999999999999999/100000000000000000000",
                            "bytes 18446744073709551616-18446744073709551617/*",
                            "bytes 0-1/0x2",
                            "bytes 0-1,2-3/9"}) {
    EXPECT_EQ(parse_content_range(value), std::nullopt) << value;
  }
}

TEST(EntityTag, entity_tag_is_absent_or_strong_or_weak_or_malformed) {
  EXPECT_EQ(tag_kind(""), TagKind::none);
  for (const char* strong : {"\"\"", "\"a\"", "\"W/a\"", "\"a,b\"", "\"!#~\"", "\"\xff\"", "\"\\\""})
    EXPECT_EQ(tag_kind(strong), TagKind::strong) << strong;
  for (const char* weak : {"W/\"\"", "W/\"a\""}) EXPECT_EQ(tag_kind(weak), TagKind::weak) << weak;
  for (const char* junk : {"a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/", "W/\"", "\"a\"b\"", "\"a b\"",
                           "\"a\", \"b\"", "\"\x7f\""})
    EXPECT_EQ(tag_kind(junk), TagKind::junk) << junk;
}

// A formatted value parses to itself. With one byte changed, it is rejected or has another meaning.
TEST(ContentRange, random_content_ranges_survive_formatting_and_parsing) {
  SeededDice dice(1);
  const std::string digits = "0123456789-/* b";
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t first = dice.roll(1) == 0 ? dice.roll(9) : dice.roll(1'000'000'000'000);
    const std::uint64_t last = first + dice.roll(1000);
    const bool open = dice.roll(3) == 0;
    const std::uint64_t complete = last + 1 + dice.roll(1000);
    const ContentRange range{first, last, open ? std::nullopt : std::optional(complete)};
    std::string text = "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
                       (open ? "*" : std::to_string(complete));
    EXPECT_EQ(parse_content_range(text), range) << text;
    text[dice.roll(text.size() - 1)] = digits[dice.roll(digits.size() - 1)];
    const auto changed = parse_content_range(text);
    if (!changed) continue;
    EXPECT_LE(changed->first, changed->last) << text;
    EXPECT_TRUE(!changed->complete || changed->last < *changed->complete) << text;
  }
}

}  // namespace
}  // namespace reprise::policy
