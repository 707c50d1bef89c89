// Downloads: what is read of their heads, and the head that asks for the rest.
#include "proxy/http/download.hpp"

#include <gtest/gtest.h>

#include "proxy/http/signature.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using policy::BodyEnd;
using policy::DownloadRequest;
using policy::PartHead;
using policy::RangeAsked;
using std::string;
using std::string_view;

constexpr std::int64_t now = 1700000000;

DownloadRequest asked(const ReadRequest& read, string_view query = "") {
  EXPECT_EQ(read.parsed, complete) << read.text;
  return read_download_request(read.head, query);
}

TEST(DownloadRequest, OfAPlainGet) {
  const ReadRequest read(get("Accept: */*\r\n"));
  const DownloadRequest request = asked(read);
  EXPECT_TRUE(request.get);
  EXPECT_FALSE(request.has_body || request.conditional || request.fields_signed || request.target_signed ||
               request.doubled);
  EXPECT_EQ(request.range, "");
  EXPECT_EQ(request.generation, "");
}

TEST(DownloadRequest, E8_ranges_of_the_client) {
  EXPECT_EQ(asked(ReadRequest(get("RANGE: bytes=1-2 \r\n"))).range.size(), 9U);
  EXPECT_TRUE(asked(ReadRequest(get("Range: bytes=1-2\r\nif-range: \"a\"\r\n"))).conditional);
  EXPECT_TRUE(asked(ReadRequest(get("Range: bytes=1-2\r\nRange: bytes=1-2\r\n"))).doubled);
  EXPECT_FALSE(asked(ReadRequest(get("Range: bytes=1-2\r\nIf-Range: \"a\"\r\n"))).doubled);
}

TEST(DownloadRequest, E10_other_methods_and_bodies) {
  EXPECT_FALSE(asked(ReadRequest("HEAD http://h/ HTTP/1.1\r\nHost: h\r\n\r\n")).get);
  EXPECT_TRUE(asked(ReadRequest(get("Content-Length: 3\r\n"))).has_body);
  EXPECT_TRUE(asked(ReadRequest(get("Transfer-Encoding: chunked\r\n"))).has_body);
  EXPECT_FALSE(asked(ReadRequest(get("Content-Length: 0\r\n"))).has_body);
}

TEST(DownloadRequest, TheGenerationInTheQuery) {
  const ReadRequest read(get(""));
  EXPECT_EQ(asked(read, "alt=media&generation=17&x").generation, "17");
  EXPECT_EQ(asked(read, "generation=").generation, "");
  EXPECT_EQ(asked(read, "ifgeneration=1&generations=2&x=generation=3").generation, "");
}

TEST(DownloadRequest, E11_signatures) {
  const auto fields_signed = [](const string& line, string_view query = "") {
    return asked(ReadRequest(get(line)), query).fields_signed;
  };
  const string sigv4 = "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host";
  EXPECT_TRUE(fields_signed(sigv4 + ";range;x-amz-date, Signature=c\r\n"));
  EXPECT_TRUE(fields_signed(sigv4 + ";If-Match, Signature=c\r\n"));
  EXPECT_FALSE(fields_signed(sigv4 + ";x-range;ranges, Signature=c\r\n"));
  EXPECT_TRUE(fields_signed("Signature-Input: sig=(\"@method\" \"if-range\");created=1\r\n"));
  EXPECT_TRUE(fields_signed("Authorization: Signature keyId=\"k\",headers=\"date range\"\r\n"));
  EXPECT_TRUE(fields_signed("", "X-Amz-SignedHeaders=host%3Brange&X-Amz-Signature=c"));
  EXPECT_TRUE(fields_signed("", "x-goog-signedheaders=range%3bhost"));
  EXPECT_FALSE(fields_signed("", "X-Amz-SignedHeaders=host%3Brangexyz&range=1"));
  EXPECT_FALSE(fields_signed("", "X-Amz-SignedHeaders=host%3"));

  const auto target_signed = [](const string& line, string_view query = "") {
    return asked(ReadRequest(get(line)), query).target_signed;
  };
  EXPECT_TRUE(target_signed(sigv4 + ", Signature=c\r\n"));
  EXPECT_TRUE(target_signed("Authorization: Digest uri=\"/\"\r\n"));
  EXPECT_TRUE(target_signed("Signature-Input: sig=(\"@method\")\r\n"));
  EXPECT_TRUE(target_signed("Signature: keyId=\"k\",signature=\"c\"\r\n"));
  for (const char* query :
       {"X-Amz-Signature=c", "a&X-Goog-Signature=c", "Signature=c&Expires=1", "se=1&sig=c"})
    EXPECT_TRUE(target_signed("", query)) << query;
  EXPECT_FALSE(target_signed("Authorization: Bearer t\r\n", "alt=media&sign=1"));
  EXPECT_FALSE(target_signed("Authorization: basic dTpw\r\n"));
}

TEST(PartHead, EveryFieldInItsPlace) {
  const ReadResponse read(
      ok("etag: \"v\"\r\nLAST-MODIFIED: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
         "Date: Tue, 14 Nov 2023 22:14:20 GMT\r\nContent-Range: bytes 1-2/3\r\n"
         "Content-Type: a/b\r\nContent-Encoding: gzip\r\nX-Goog-Generation: 17\r\n"
         "Content-Length: 5\r\n"));
  const PartHead part = read_part_head(read.head, now);
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(part.end, BodyEnd::length);
  EXPECT_EQ(part.length, 5U);
  EXPECT_EQ(part.entity_tag, "\"v\"");
  EXPECT_EQ(part.last_modified_at, 1700000000);
  EXPECT_EQ(part.date, 1700000060);
  EXPECT_EQ(part.content_range, "bytes 1-2/3");
  EXPECT_EQ(part.content_type, "a/b");
  EXPECT_EQ(part.content_encoding, "gzip");
  EXPECT_EQ(part.generation, "17");
  EXPECT_FALSE(part.doubled || part.has_trailer);
}

TEST(PartHead, E3_E7_a_field_that_comes_twice_is_a_doubt) {
  for (const char* line : {"ETag: \"v\"\r\n", "Content-Range: bytes 1-2/3\r\n", "Content-Type: a/b\r\n",
                           "Content-Encoding: identity\r\n", "X-Goog-Generation: 1\r\n",
                           "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n"}) {
    const ReadResponse once(ok(string(line) + "Content-Length: 5\r\n"));
    EXPECT_FALSE(read_part_head(once.head, now).doubled) << line;
    const ReadResponse twice(ok(string(line) + line + "Content-Length: 5\r\n"));
    EXPECT_TRUE(read_part_head(twice.head, now).doubled) << line;
  }
  const ReadResponse empty(ok("ETag:\r\nETag: \"v\"\r\nContent-Length: 5\r\n"));
  EXPECT_TRUE(read_part_head(empty.head, now).doubled);
}

TEST(PartHead, EndsOfBodies) {
  const ReadResponse chunked(ok("Transfer-Encoding: chunked\r\nTrailer: X\r\n"));
  EXPECT_EQ(read_part_head(chunked.head, now).end, BodyEnd::last_chunk);
  EXPECT_TRUE(read_part_head(chunked.head, now).has_trailer);
  EXPECT_EQ(read_part_head(ReadResponse(ok("")).head, now).end, BodyEnd::close);
  EXPECT_EQ(read_part_head(ReadResponse(ok("Content-Length: 5\r\n"), "HEAD").head, now).end, BodyEnd::none);
}

string ranged(string_view outgoing, const RangeAsked& wish) {
  string out;
  write_range_request(outgoing, wish, out);
  return out;
}

TEST(RangeRequest, OnlyTheRangeIsAdded) {
  const string head = "GET /a?b HTTP/1.1\r\nHost: h\r\nX-Odd:  a\tb \r\nVia: 1.1 r\r\n";
  EXPECT_EQ(ranged(head + "\r\n", {{40, std::nullopt}, "\"v\"", ""}),
            head + "Range: bytes=40-\r\nIf-Range: \"v\"\r\n\r\n");
  EXPECT_EQ(ranged(head, {{40, 99}, "", ""}), head + "Range: bytes=40-99\r\n");
}

TEST(RangeRequest, J11_the_client_s_own_conditions_are_left_out) {
  EXPECT_EQ(
      ranged("GET / HTTP/1.1\r\nrange: bytes=0-\r\nHost: h\r\nIF-NONE-MATCH: \"a\", \"b\"\r\n"
             "If-Match: *\r\nIf-Modified-Since: x\r\nIf-Unmodified-Since: y\r\nIf-Range: \"c\"\r\n"
             "X-Range: 1\r\nRange-If: 2\r\n\r\n",
             {{7, std::nullopt}, "\"v\"", ""}),
      "GET / HTTP/1.1\r\nHost: h\r\nX-Range: 1\r\nRange-If: 2\r\nRange: bytes=7-\r\nIf-Range: \"v\"\r\n\r\n");
}

TEST(RangeRequest, APinnedGenerationJoinsTheQuery) {
  EXPECT_EQ(ranged("GET /o HTTP/1.1\r\nHost: h\r\n\r\n", {{1, std::nullopt}, "", "17"}),
            "GET /o?generation=17 HTTP/1.1\r\nHost: h\r\nRange: bytes=1-\r\n\r\n");
  EXPECT_EQ(ranged("GET /o?alt=media HTTP/1.1\r\nHost: h\r\n", {{1, std::nullopt}, "\"v\"", "17"}),
            "GET /o?alt=media&generation=17 HTTP/1.1\r\nHost: h\r\nRange: bytes=1-\r\nIf-Range: \"v\"\r\n");
}

}  // namespace
}  // namespace reprise::http
