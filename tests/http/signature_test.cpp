// Tests until when a signed request may be sent: presigned URLs, signing fields, and values that are not
// signatures.
#include "proxy/http/retry_hints/signature.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"
#include "tests/support/chance.hpp"

namespace reprise::http::signature_test {
namespace {

using std::string;
using Expiry = std::optional<std::int64_t>;

constexpr std::int64_t now = 1700000000;  // Tue, 14 Nov 2023 22:13:20 GMT
const string stamp = "20231114T221320Z";
const string authorization =
    "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=c\r\n";

Expiry by_query(const string& query) { return signature_expiry(RequestHead{}, query); }

Expiry by_fields(const string& lines, const string& query = "") {
  const ReadRequest read(get(lines));
  EXPECT_EQ(read.parsed, complete) << lines;
  return signature_expiry(read.head, query);
}

string amz(const string& date, const string& expires) {
  return "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=" + date + "&X-Amz-Expires=" + expires +
         "&X-Amz-SignedHeaders=host&X-Amz-Signature=abc";
}

TEST(Signature, expiry_of_presigned_urls_is_read) {
  EXPECT_EQ(by_query(amz(stamp, "60")), now + 60);
  EXPECT_EQ(by_query("a=b&&c&" + amz(stamp, "60") + "&d"), now + 60);
  EXPECT_EQ(by_query("X-Goog-Date=" + stamp + "&X-Goog-Expires=900&X-Goog-Signature=ab"), now + 900);
  EXPECT_EQ(by_query("x-goog-signature=ab&x-goog-expires=900&x-goog-date=" + stamp), now + 900);
}

TEST(Signature, lifetimes_out_of_range_are_ignored) {
  EXPECT_EQ(by_query(amz(stamp, "1")), now + 1);
  EXPECT_EQ(by_query(amz(stamp, "604800")), now + 604800);
  for (const string life : {"0", "604801", "-1", "", "1.5", "60s", "+60", "%36", "99999999999999999999999"}) {
    EXPECT_EQ(by_query(amz(stamp, life)), std::nullopt) << life;
  }
}

TEST(Signature, malformed_signature_dates_are_ignored) {
  for (const string date : {"", "20231114", "20231114T221320", "2023-11-14T22:13:20Z", "20231114T221320+00",
                            "20231314T221320Z", "20230229T000000Z", "20231114T221320Zx", "1700000000"}) {
    EXPECT_EQ(by_query(amz(date, "60")), std::nullopt) << date;
  }
}

TEST(Signature, query_without_a_signature_parameter_is_not_signed) {
  const string dates = "X-Amz-Date=" + stamp + "&X-Amz-Expires=60";
  EXPECT_EQ(by_query(dates), std::nullopt);
  EXPECT_EQ(by_query(dates + "&X-Amz-Signature="), std::nullopt);
  EXPECT_EQ(by_query(dates + "&X-Goog-Signature=ab"), std::nullopt);
  EXPECT_EQ(by_query(dates + "&X-Amz-Signature=ab"), now + 60);
}

TEST(Signature, expiry_of_version_2_signed_urls_is_read) {
  EXPECT_EQ(by_query("GoogleAccessId=me&Expires=1700000100&Signature=ab%3D"), 1700000100);
  EXPECT_EQ(by_query("AWSAccessKeyId=me&Signature=ab%3D&Expires=1700000100"), 1700000100);
  for (const string query :
       {"", "Expires=1700000100", "Expires=1700000100&Signature=ab", "Expires=1700000100&AWSAccessKeyId=me",
        "expires=1700000100&signature=ab&AWSAccessKeyId=me",
        "Expires=1700000100&Signature=&AWSAccessKeyId=me", "Expires=&Signature=ab&AWSAccessKeyId=me",
        "Expires=-5&Signature=ab&AWSAccessKeyId=me", "Expires=junk&Signature=ab&AWSAccessKeyId=me",
        "Expires=253402300800&Signature=ab&AWSAccessKeyId=me",
        "Expires=99999999999999999999&Signature=ab&GoogleAccessId=me", "Signature=ab&GoogleAccessId=me"}) {
    EXPECT_EQ(by_query(query), std::nullopt) << query;
  }
}

TEST(Signature, expiry_of_signed_header_fields_is_read) {
  EXPECT_EQ(by_fields(authorization + "X-Amz-Date: " + stamp + "\r\n"), now + 300);
  EXPECT_EQ(by_fields(authorization + "x-amz-date: " + stamp + "\r\nX-Amz-Expires: 20\r\n"), now + 20);
  EXPECT_EQ(by_fields(authorization + "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"), now + 300);
  EXPECT_EQ(by_fields(authorization + "Date: " + stamp + "\r\n"), now + 300);
  EXPECT_EQ(by_fields("Date: Tue, 14 Nov 2023 23:00:00 GMT\r\nX-Amz-Date: " + stamp + "\r\n" + authorization),
            now + 300);
}

TEST(Signature, header_fields_that_are_unreadable_or_not_signed_give_no_expiry) {
  const string date = "X-Amz-Date: " + stamp + "\r\n";
  for (const string& lines : std::vector<string>{
           "", date, authorization, authorization + "X-Amz-Date: junk\r\n",
           authorization + "X-Amz-Date: junk\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n",
           authorization + date + "X-Amz-Expires: junk\r\n",
           authorization + date + "X-Amz-Expires: 604801\r\n",
           authorization + "Date: Tuesday, 14-Nov-23 22:13:20 GMT\r\n", authorization + "Date: junk\r\n",
           authorization + "Date: Tue\r\n", authorization + "Date:\r\n",
           "Authorization: Bearer abc\r\n" + date, "Authorization: AWS4-HMAC-SHA256\r\n" + date,
           "Authorization: AWS key:signature\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"}) {
    EXPECT_EQ(by_fields(lines), std::nullopt) << lines;
  }
}

TEST(Signature, expiry_of_a_signed_query_overrides_that_of_signed_header_fields) {
  const string fields = authorization + "X-Amz-Date: 20231115T000000Z\r\n";
  EXPECT_EQ(by_fields(fields, amz(stamp, "60")), now + 60);
  EXPECT_EQ(by_fields(fields, amz("junk", "60")), std::nullopt);
  EXPECT_EQ(by_fields(fields, "a=b"), 1700006400 + 300);
}

TEST(Signature, random_input_never_breaks_the_signature_parser) {
  const std::vector<string> pieces{"X-Amz-Date=",
                                   "X-Amz-Expires=",
                                   "X-Amz-Signature=",
                                   "X-Goog-",
                                   "Expires=",
                                   "Signature=",
                                   "AWSAccessKeyId=",
                                   stamp,
                                   "60",
                                   "&",
                                   "&",
                                   "=",
                                   "T",
                                   "Z"};
  play::Chance random(4);
  unsigned found = 0;
  for (int round = 0; round < 60'000; ++round) {
    string query = random.one_in(8) ? amz(stamp, std::to_string(random.below(700'000))) : "";
    for (auto count = random.below(12); count > 0; --count) {
      query += random.one_in(5) ? string(1, random.byte()) : pieces[random.below(pieces.size())];
    }
    if (!query.empty() && random.one_in(2)) query[random.below(query.size())] = random.byte();
    query.shrink_to_fit();
    const Expiry expiry = by_query(query);
    if (!expiry) continue;
    ++found;
    ASSERT_GE(*expiry, 0) << query;
    ASSERT_LE(*expiry, 253402300799 + 604800) << query;
  }
  EXPECT_GT(found, 500u);
}

TEST(Signature, one_time_credentials_are_a_dpop_proof_or_an_oauth_nonce) {
  const auto is_one_time = [](const string& lines) {
    const ReadRequest read(get(lines));
    EXPECT_EQ(read.parsed, complete) << lines;
    return has_one_time_credentials(read.head);
  };
  EXPECT_TRUE(is_one_time("DPoP: abc\r\n"));
  EXPECT_TRUE(is_one_time("authorization: OAuth realm=\"a\", oauth_nonce=\"b\"\r\n"));
  for (const string lines : {"", "DNTP: abc\r\n", "Authorization: OAuth realm=\"a\"\r\n",
                             "Authorization: Bearer oauth_nonce\r\n", "Authorisation: OAuth oauth_nonce\r\n"})
    EXPECT_FALSE(is_one_time(lines)) << lines;
}

TEST(Signature, range_field_in_a_list_of_signed_fields_is_detected) {
  EXPECT_TRUE(signs_range_fields(RequestHead{}, "X-Amz-SignedHeaders=host%3Brange"));
  for (const string query : {"", "X-Amz-SignedHeaders=host", "X-Amz-SomeHeadersOf=host%3Brange", "a=range"})
    EXPECT_FALSE(signs_range_fields(RequestHead{}, query)) << query;
}

}  // namespace
}  // namespace reprise::http::signature_test
