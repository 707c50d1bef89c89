// Tests the retry hints of a response, field by field, and that no input gives a negative pause.
#include "proxy/http/retry_hints/hint.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"
#include "tests/support/chance.hpp"

namespace reprise::http::hint_test {
namespace {

using policy::Duration;
using std::string;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::int64_t now = 1700000000;  // Tue, 14 Nov 2023 22:13:20 GMT
constexpr Duration longest = seconds(std::int64_t{1} << 31);

policy::Hints hints(const string& lines, int status = 503) {
  const ReadResponse read("HTTP/1.1 " + std::to_string(status) + " x\r\n" + lines + "\r\n");
  EXPECT_EQ(read.parsed, complete) << lines;
  return read_hints(read.head, now);
}

std::optional<Duration> pause(const string& lines, int status = 503) {
  return hints(lines, status).retry_after;
}

struct Row {
  string value;
  std::optional<Duration> pause;
};

void check(const string& name, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(pause(name + ": " + row.value + "\r\n"), row.pause) << name << ": " << row.value;
  }
}

TEST(Hints, response_without_hint_fields_gives_no_hints) {
  const policy::Hints none = hints("Content-Length: 0\r\nX-Retry-After: 5\r\nretry-after-mx: 5\r\n");
  EXPECT_EQ(none.retry_after, std::nullopt);
  EXPECT_EQ(none.aws_retry_after, std::nullopt);
  EXPECT_FALSE(none.said_no);
}

TEST(Hints, unknown_field_name_of_the_same_length_as_a_hint_name_is_ignored) {
  for (const string name : {"ratelimix", "retry-after-mx", "x-should-retrx", "x-ratelimit-resex",
                            "x-amz-retry-aftex", "x-ratelimit-remaininx", "grpc-retry-pushback-mx",
                            "stripe-should-retrx", "x-ratelimit-reset-aftex"}) {
    const policy::Hints found =
        hints(name + ": false\r\n" + name + ": \"a\";r=0;t=30\r\n" + name + ": 5\r\n");
    EXPECT_EQ(found.retry_after, std::nullopt) << name;
    EXPECT_EQ(found.aws_retry_after, std::nullopt) << name;
    EXPECT_FALSE(found.said_no) << name;
  }
}

TEST(Hints, retry_after_in_seconds_is_parsed) {
  check("Retry-After", {{"120", seconds(120)},
                        {" 007 ", seconds(7)},
                        {"99999999999999999999999", longest},
                        {"0", {}},
                        {"-1", {}},
                        {"+1", {}},
                        {"1.5", milliseconds(1500)},
                        {"10.0", seconds(10)},
                        {"10.", {}},
                        {"0.0", {}},
                        {"1s", {}},
                        {"", {}},
                        {"soon", {}},
                        {"0x10", {}}});
  EXPECT_EQ(pause("Retry-After: 5\r\n", 200), seconds(5));
}

TEST(Hints, retry_after_as_a_date_is_parsed) {
  check("Retry-After", {{"Tue, 14 Nov 2023 22:14:20 GMT", seconds(60)},
                        {"Tuesday, 14-Nov-23 22:14:20 GMT", seconds(60)},
                        {"Tue Nov 14 22:14:20 2023", seconds(60)},
                        {"Tue, 14 Nov 2023 22:13:20 GMT", {}},
                        {"Tue, 14 Nov 2023 22:12:20 GMT", {}},
                        {"Tue, 14 Nov 2023 22:14:20", {}}});
}

TEST(Hints, date_hints_are_relative_to_the_date_field_of_the_response) {
  const string later = "Retry-After: Tue, 14 Nov 2023 22:14:20 GMT\r\n";  // now + 60 s
  EXPECT_EQ(pause(later + "Date: Tue, 14 Nov 2023 22:14:00 GMT\r\n"), seconds(20));
  EXPECT_EQ(pause(later + "Date: junk\r\n"), seconds(60));
  EXPECT_EQ(pause(later + "Date: Tue, 14 Nov 2023 23:00:00 GMT\r\n"), std::nullopt);
  EXPECT_EQ(pause("x-ratelimit-reset: 1700000060\r\nDate: Tue, 14 Nov 2023 22:14:00 GMT\r\n"), seconds(20));
}

TEST(Hints, retry_after_ms_is_parsed) {
  check("retry-after-ms", {{"1500", milliseconds(1500)},
                           {"0.5", microseconds(500)},
                           {"12.345678", nanoseconds(12345678)},
                           {"12.3456789999", nanoseconds(12345678)},
                           {"99999999999999999999999", longest},
                           {"2147483648000", longest},
                           {"2147483647999", seconds((std::int64_t{1} << 31) - 1) + milliseconds(999)},
                           {"0", {}},
                           {"0.0", {}},
                           {"-5", {}},
                           {"5.", {}},
                           {".5", {}},
                           {"1e3", {}},
                           {"1.5.5", {}},
                           {"1,5", {}},
                           {"5ms", {}},
                           {"", {}}});
  EXPECT_EQ(pause("Retry-After-Ms: 20\r\n", 500), milliseconds(20));
}

TEST(Hints, fields_of_azure_discord_and_stripe_are_read) {
  check("x-ms-retry-after-ms", {{"1500", milliseconds(1500)}, {"0", {}}, {"5s", {}}});
  EXPECT_EQ(pause("X-RateLimit-Reset-After: 1.25\r\n", 429), milliseconds(1250));
  EXPECT_EQ(pause("X-RateLimit-Reset-After: soon\r\n", 429), std::nullopt);
  EXPECT_EQ(pause("X-RateLimit-Reset-After: 1.25\r\n", 503), std::nullopt) << "a quota, not a refusal";
  EXPECT_EQ(pause("X-RateLimit-Reset-After: 1.25\r\n", 200), std::nullopt);
  EXPECT_TRUE(hints("Stripe-Should-Retry: false\r\n").said_no);
  EXPECT_FALSE(hints("Stripe-Should-Retry: true\r\n").said_no);
}

TEST(Hints, x_ratelimit_reset_is_parsed_in_all_its_formats) {
  check("X-RateLimit-Reset", {{"30", seconds(30)},
                              {"0.25", milliseconds(250)},
                              {"1000000000", seconds(1000000000)},
                              {"1700000060", seconds(60)},
                              {"1700000060.5", milliseconds(60500)},
                              {"1700000060000", seconds(60)},
                              {"1s", seconds(1)},
                              {"6m0s", minutes(6)},
                              {"1h2m3.5s", hours(1) + minutes(2) + milliseconds(3500)},
                              {"20ms", milliseconds(20)},
                              {"1s20ms", milliseconds(1020)},
                              {"99999999999999999999999h99999999999999999999999m", longest},
                              {"1699999999", {}},
                              {"1700000000", {}},
                              {"1699999999000", {}},
                              {"0", {}},
                              {"0s", {}},
                              {"-1", {}},
                              {"1s1m", {}},
                              {"1s1s", {}},
                              {"1d", {}},
                              {"s", {}},
                              {"1s2", {}},
                              {"1 s", {}},
                              {"soon", {}}});
}

TEST(Hints, rate_limit_hints_are_used_only_for_429_and_503) {
  for (const string line : {"x-ratelimit-reset: 30\r\n", "RateLimit: \"a\";r=0;t=30\r\n"}) {
    for (const int status : {200, 403, 500, 502, 504}) EXPECT_EQ(pause(line, status), std::nullopt) << status;
    for (const int status : {429, 503}) EXPECT_EQ(pause(line, status), seconds(30)) << status;
  }
}

TEST(Hints, ratelimit_reset_is_ignored_if_quota_remains) {
  const string reset = "x-ratelimit-reset: 3000\r\n";
  EXPECT_EQ(pause(reset + "x-ratelimit-remaining: 12\r\n"), std::nullopt);
  EXPECT_EQ(pause("x-ratelimit-remaining: 12\r\n" + reset + "Retry-After: 2\r\n"), seconds(2));
  EXPECT_EQ(pause(reset + "x-ratelimit-remaining: 0\r\n"), seconds(3000));
  EXPECT_EQ(pause(reset + "x-ratelimit-remaining: some\r\n"), seconds(3000));
}

TEST(Hints, ratelimit_draft_fields_are_parsed) {
  check("RateLimit", {{"limit=100, remaining=0, reset=30", seconds(30)},
                      {"limit=100,remaining=0,reset=30", seconds(30)},
                      {"reset=30;x=1, remaining=0;y", seconds(30)},
                      {"limit=100, remaining=1, reset=30", {}},
                      {"limit=100, reset=30", {}},
                      {"limit=100, remaining=0", {}},
                      {"remaining=0, reset=0", {}},
                      {"remaining=0, reset=-3", {}},
                      {"remaining=-1, reset=3", {}},
                      {"remaining=0, reset=1.5", {}},
                      {"\"default\";r=0;t=30", seconds(30)},
                      {"\"default\"; r=0; t=30", seconds(30)},
                      {"default;r=0;t=30", seconds(30)},
                      {"\"default\";t=30;pk=:YWI=:;r=0", seconds(30)},
                      {"\"a\";r=0;t=5, \"b\";r=0;t=9, \"c\";r=0;t=7", seconds(9)},
                      {"\"a\";r=0;t=5, \"b\";r=3;t=900", seconds(5)},
                      {R"("a, \" remaining=0;r=0;t=1";r=0;t=8)", seconds(8)},
                      {"\"default\";r=50;t=30", {}},
                      {"\"default\";r=0", {}},
                      {"\"default\";t=30", {}},
                      {"\"default\";r=0;t=x", {}},
                      {"\"default;r=0;t=30", {}},
                      {"\"default\\", {}},
                      {"\"default\";r=0;t=99999999999999999999", longest},
                      {"", {}},
                      {"=,;=;,=0", {}}});
}

TEST(Hints, x_amz_retry_after_is_stored_separately) {
  const auto amz = [](const string& value) {
    return hints("x-amz-retry-after: " + value + "\r\n").aws_retry_after;
  };
  EXPECT_EQ(amz("1500"), milliseconds(1500));
  EXPECT_EQ(amz("99999999999999999999"), longest);
  for (const string value : {"0", "-1", "1.5", "junk", "", "1s"})
    EXPECT_EQ(amz(value), std::nullopt) << value;
  EXPECT_EQ(pause("x-amz-retry-after: 1500\r\n"), std::nullopt);
}

TEST(Hints, x_should_retry_false_forbids_retries) {
  EXPECT_TRUE(hints("x-should-retry: false\r\n").said_no);
  EXPECT_TRUE(hints("X-Should-Retry: False\r\n", 429).said_no);
  for (const string value : {"true", "0", "no", "", "false!"}) {
    EXPECT_FALSE(hints("x-should-retry: " + value + "\r\n").said_no) << value;
  }
  EXPECT_TRUE(hints("x-should-retry: false\r\nx-should-retry: true\r\n").said_no);
}

TEST(Hints, M76_grpc_pushback_sets_a_delay_or_forbids_retries) {
  for (const string value : {"-1", "-0", "junk", "", "1.5", "5.0", "+1", "05", "00", "5ms", "2147483648",
                             "99999999999999999999"}) {
    const policy::Hints found = hints("grpc-retry-pushback-ms: " + value + "\r\n", 200);
    EXPECT_TRUE(found.said_no) << value;
    EXPECT_EQ(found.retry_after, std::nullopt) << value;
  }
  check("grpc-retry-pushback-ms",
        {{"100", milliseconds(100)}, {"2147483647", milliseconds(2147483647)}, {"0", {}}});
  EXPECT_FALSE(hints("grpc-retry-pushback-ms: 100\r\n").said_no);
  EXPECT_FALSE(hints("grpc-retry-pushback-ms: 0\r\n").said_no);
}

TEST(Hints, grpc_pushback_delay_does_not_override_x_should_retry_false) {
  const policy::Hints found = hints("x-should-retry: false\r\ngrpc-retry-pushback-ms: 100\r\n");
  EXPECT_TRUE(found.said_no);
  EXPECT_EQ(found.retry_after, milliseconds(100));
}

TEST(Hints, longest_of_several_delay_hints_is_used) {
  EXPECT_EQ(pause("Retry-After: 5\r\nRetry-After: 9\r\nRetry-After: junk\r\nRetry-After: 7\r\n"), seconds(9));
  EXPECT_EQ(pause("Retry-After: 1\r\nretry-after-ms: 900\r\n"), seconds(1));
  EXPECT_EQ(pause("Retry-After: 1\r\nretry-after-ms: 1900\r\nRateLimit: \"a\";r=0;t=1\r\n"),
            milliseconds(1900));
  EXPECT_EQ(pause("x-ratelimit-reset: 4\r\ngrpc-retry-pushback-ms: 3000\r\n"), seconds(4));
}

const std::vector<string> names{
    "Retry-After",       "retry-after-ms",        "x-ratelimit-reset",      "RateLimit",
    "x-amz-retry-after", "x-ratelimit-remaining", "grpc-retry-pushback-ms", "x-should-retry"};

/// Returns random bytes, most of them characters that these fields use. The buffer has the exact size, so
/// that a sanitizer detects any read beyond it.
string random_value(play::Chance& random) {
  const string spice = "0123456789999.,;=-\"\\ \thmsrt";
  string value(random.below(24), ' ');
  for (char& c : value) c = random.one_in(9) ? random.byte() : spice[random.below(spice.size())];
  if (random.one_in(4)) value.insert(0, "\"a\";r=0;t=");
  if (random.one_in(8)) value.insert(0, "remaining=0,reset=");
  value.shrink_to_fit();
  return value;
}

TEST(Hints, random_hint_values_never_give_a_negative_delay) {
  play::Chance random(20240229);
  unsigned pauses = 0;
  for (int round = 0; round < 60'000; ++round) {
    const string value = random_value(random);
    const string& name = names[random.below(names.size())];
    ResponseHead head;
    head.status = round % 2 == 0 ? 429 : 200;
    head.fields.push_back({name, value, {}, name == "Retry-After" ? FieldId::retry_after : FieldId::other});
    const policy::Hints found = read_hints(head, now);
    for (const auto& hint : {found.retry_after, found.aws_retry_after}) {
      if (!hint) continue;
      ++pauses;
      ASSERT_GT(*hint, Duration::zero()) << name << ": " << value;
      ASSERT_LE(*hint, longest) << name << ": " << value;
    }
  }
  EXPECT_GT(pauses, 500u) << "the bytes are not random enough to mean anything";
}

TEST(Hints, first_malformed_hint_field_is_named) {
  const auto malformed = [](const string& lines) {
    const ReadResponse read("HTTP/1.1 503 x\r\n" + lines + "\r\n");
    EXPECT_EQ(read.parsed, complete) << lines;
    const FieldLine* const field = hint_not_understood(read.head, now);
    return field == nullptr ? string() : string(field->name);
  };
  EXPECT_EQ(malformed("Retry-After: 5\r\nX-Should-Retry: true\r\n"), "");
  EXPECT_EQ(malformed("Retry-After: soon\r\nX-Should-Retry: maybe\r\n"), "Retry-After");
  EXPECT_EQ(malformed("X-Should-Retry: maybe\r\nRetry-After: soon\r\n"), "X-Should-Retry");
  EXPECT_EQ(malformed("X-Should-Retry: false\r\nX-Amz-Retry-After: -1\r\n"), "X-Amz-Retry-After");
}

}  // namespace
}  // namespace reprise::http::hint_test
