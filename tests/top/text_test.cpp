// Tests the text of `reprise top`: columns, formatted figures, and the bars of requests.
#include "proxy/tools/top/text.hpp"

#include "proxy/tools/top/bar.hpp"
#include "tests/top/proxy_story.hpp"

namespace reprise::tools {
namespace {

TEST(Text, width_is_the_sum_of_the_character_widths) {
  EXPECT_EQ(columns_of("abc", utf8()), 3U);
  EXPECT_EQ(columns_of("日本", utf8()), 4U);
  EXPECT_EQ(columns_of("e\u0301", utf8()), 1U);
  EXPECT_EQ(columns_of("äöü", Charset{true, nullptr}), 3U);
}

TEST(Text, text_is_truncated_between_characters) {
  EXPECT_EQ(cut("abcdef", 6, utf8()), "abcdef");
  EXPECT_EQ(cut("abcdef", 4, utf8()), "abc…");
  EXPECT_EQ(cut("abcdef", 4, Charset{}), "abc~");
  EXPECT_EQ(cut("日本語", 4, utf8()), "日…");
  EXPECT_EQ(cut("日本語", 1, utf8()), "…");
  EXPECT_EQ(cut("abc", 0, utf8()), "");
  EXPECT_EQ(cut("ae\u0301b", 2, utf8()), "a…");
  EXPECT_EQ(cut("e\u0301", 1, utf8()), "e\u0301") << "a mark belongs to its character";
}

TEST(Text, text_is_padded_to_its_columns) {
  EXPECT_EQ(padded("日", 4, utf8()), "日  ");
  EXPECT_EQ(padded_left("日", 4, utf8()), "  日");
  EXPECT_EQ(padded("日本語", 4, utf8()), "日… ");
  EXPECT_EQ(padded_left("abcdef", 3, Charset{}), "ab~");
}

TEST(Text, unprintable_characters_are_shown_as_codes) {
  EXPECT_EQ(shown("a\x1b[2J\x7f", utf8()), "a\\u001b[2J\\u007f");
  EXPECT_EQ(shown("日本", Charset{}), "\\u65e5\\u672c");
  EXPECT_EQ(shown("a\u202e\u0085", utf8()), "a\\u202e\\u0085");
  EXPECT_EQ(shown("\u0301a\u0301", utf8()), "\\u0301a\u0301");
  EXPECT_EQ(shown("\xff", utf8()), "\\ufffd");
  EXPECT_EQ(shown("😀", Charset{}), "\\u1f600");
}

TEST(Text, text_is_wrapped_at_blanks) {
  EXPECT_EQ(wrapped("one two three", 7, utf8()), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefgh ij", 3, utf8()), (std::vector<std::string>{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(wrapped("日本語", 1, utf8()).size(), 3U) << "one character at least";
  EXPECT_EQ(wrapped("日本語", 0, utf8()).size(), 3U);
  EXPECT_TRUE(wrapped("", 5, utf8()).empty());
}

TEST(Figures, counts_and_rates_and_durations_are_formatted_for_human_readers) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(99999), "99999");
  EXPECT_EQ(count_text(100000), "100.0k");
  EXPECT_EQ(count_text(1234567), "1.2M");
  EXPECT_EQ(count_text(1e30).back(), 'T');
  EXPECT_EQ(rate_text(12.34), "12.3");
  EXPECT_EQ(rate_text(1500), "1500");
  EXPECT_EQ(share_text(1), "100%");
  EXPECT_EQ(share_text(0.99999), "99.9%");
  EXPECT_EQ(share_text(0.993), "99.3%");
  EXPECT_EQ(seconds_text(0.0008), "0.8ms");
  EXPECT_EQ(seconds_text(0.045), "45ms");
  EXPECT_EQ(seconds_text(1.25), "1.25s");
  EXPECT_EQ(seconds_text(12.3), "12.3s");
  EXPECT_EQ(seconds_text(185), "3m05s");
  EXPECT_EQ(seconds_text(7260), "2h01m");
  EXPECT_EQ(age_text(-5), "00:00:00");
  EXPECT_EQ(age_text(3725), "01:02:05");
  EXPECT_EQ(age_text(2 * 86400 + 3 * 3600 + 60), "2d 03:01");
}

std::string drawn(const RequestReading& story, std::size_t columns, const Charset& charset = {}) {
  std::string text;
  for (const Piece& piece : bar_of(story, columns, charset)) text += piece.text;
  return text;
}

RequestReading story_of(const std::string& members) {
  return read_requests("[{" + members + "}]", nullptr).value->front();
}

TEST(Bar, bar_shows_time_from_request_head_to_end) {
  const RequestReading story = read_requests(stories_json, nullptr).value->at(1);
  EXPECT_EQ(drawn(story, 12), "xx..##...===");
  EXPECT_EQ(drawn(story, 12, utf8()), "░░··▓▓···███");
  EXPECT_EQ(drawn(story, 3), "x#=");
  EXPECT_EQ(drawn(story, 0), "");
}

TEST(Bar, bar_shows_each_attempt_however_short) {
  EXPECT_EQ(
      drawn(
          story_of(
              R"("ms":1000,"status":200,"attempts":[{"at_ms":0,"ms":0.1,"status":503,"retry":true},{"at_ms":999.9,"ms":0.1,"status":200}])"),
          10),
      "#........=");
  EXPECT_EQ(drawn(story_of(R"("ms":0,"attempts":[{"at_ms":0,"ms":0}])"), 4), "....")
      << "nothing has a length here";
}

TEST(Bar, bar_shows_a_gap_for_omitted_attempts) {
  EXPECT_EQ(drawn(story_of(R"("ms":100,"attempts_left_out":7,"attempts_before_the_gap":1,
    "attempts":[{"at_ms":0,"ms":20},{"at_ms":80,"ms":20}])"),
                  10),
            "xx~~~~~~xx");
}

TEST(Bar, each_attempt_is_shown_as_accepted_rejected_or_failed) {
  const auto result = [](const std::string& story, const std::string& attempt) {
    const RequestReading read = story_of(story + R"(,"attempts":[{)" + attempt + "}]");
    return drawn_result(read, read.attempts[0]);
  };
  EXPECT_EQ(result(R"("status":200)", R"("status":200)"), DrawnResult::taken);
  EXPECT_EQ(result(R"("status":404)", R"("status":404,"reason":"not_retryable")"), DrawnResult::taken);
  EXPECT_EQ(result(R"("status":503)", R"("status":503,"reason":"not_idempotent")"), DrawnResult::refused);
  EXPECT_EQ(result(R"("status":504,"own_response":true)", R"("status":200)"), DrawnResult::refused);
  EXPECT_EQ(result(R"("status":200)", R"("status":200,"retry":true)"), DrawnResult::refused);
  EXPECT_EQ(result(R"("status":502)", R"("error":"reset")"), DrawnResult::failed);
}

TEST(Gauge, gauge_shows_a_fraction) {
  EXPECT_EQ(gauge_of(0.5, 12), "[#####-----]");
  EXPECT_EQ(gauge_of(7, 4), "[##]");
  EXPECT_EQ(gauge_of(-1, 4), "[--]");
  EXPECT_EQ(gauge_of(1, 0), "[#]");
}

}  // namespace
}  // namespace reprise::tools
