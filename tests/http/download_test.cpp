// Tests downloads: which values are read from the heads of a download, and which head a resume request gets.
#include "proxy/http/retry_hints/download.hpp"

#include <gtest/gtest.h>

#include "proxy/http/retry_hints/signature.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http::download_test {
namespace {

using policy::BodyEnd;
using policy::DownloadRequest;
using policy::PartHead;
using policy::RangeAsked;
using std::string;
using std::string_view;

constexpr std::int64_t now = 1700000000;
const std::vector<string> listed{"etag", "x-goog-generation", "x-amz-version-id"};

PartHead part_of(const ReadResponse& read) { return read_part_head(read.head, listed, now); }

DownloadRequest asked(const ReadRequest& read, string_view query = "") {
  EXPECT_EQ(read.parsed, complete) << read.text;
  return read_download_request(read.head, query);
}

TEST(DownloadRequest, plain_get_is_a_resumable_download) {
  const ReadRequest read(get("Accept: */*\r\n"));
  const DownloadRequest request = asked(read);
  EXPECT_TRUE(request.get);
  EXPECT_FALSE(request.has_body || request.conditional || request.fields_signed || request.doubled);
  EXPECT_EQ(request.range, "");
}

TEST(DownloadRequest, E8_range_and_if_range_of_the_client_are_read) {
  EXPECT_EQ(asked(ReadRequest(get("RANGE: bytes=1-2 \r\n"))).range.size(), 9U);
  EXPECT_TRUE(asked(ReadRequest(get("Range: bytes=1-2\r\nif-range: \"a\"\r\n"))).conditional);
  EXPECT_TRUE(asked(ReadRequest(get("Range: bytes=1-2\r\nRange: bytes=1-2\r\n"))).doubled);
  EXPECT_FALSE(asked(ReadRequest(get("Range: bytes=1-2\r\nIf-Range: \"a\"\r\n"))).doubled);
}

TEST(DownloadRequest, E10_methods_other_than_get_and_requests_with_a_body_are_detected) {
  EXPECT_FALSE(asked(ReadRequest("HEAD http://h/ HTTP/1.1\r\nHost: h\r\n\r\n")).get);
  EXPECT_TRUE(asked(ReadRequest(get("Content-Length: 3\r\n"))).has_body);
  EXPECT_TRUE(asked(ReadRequest(get("Transfer-Encoding: chunked\r\n"))).has_body);
  EXPECT_FALSE(asked(ReadRequest(get("Content-Length: 0\r\n"))).has_body);
}

TEST(DownloadRequest, E11_signatures_that_cover_range_fields_are_detected) {
  const auto fields_signed = [](const string& line, string_view query = "") {
    return asked(ReadRequest(get(line)), query).fields_signed;
  };
  const string sigv4 = "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host";
  EXPECT_TRUE(fields_signed(sigv4 + ";range;x-amz-date, Signature=c\r\n"));
  EXPECT_TRUE(fields_signed(sigv4 + ";If-Match, Signature=c\r\n"));
  EXPECT_FALSE(fields_signed(sigv4 + ";x-range;ranges, Signature=c\r\n"));
  EXPECT_TRUE(fields_signed("Signature-Input: sig=(\"@method\" \"if-range\");created=1\r\n"));
  EXPECT_TRUE(fields_signed("Signature: keyId=\"k\",headers=\"date range\"\r\n"));
  EXPECT_TRUE(fields_signed("Authorization: Signature keyId=\"k\",headers=\"date range\"\r\n"));
  EXPECT_TRUE(fields_signed("", "X-Amz-SignedHeaders=host%3Brange&X-Amz-Signature=c"));
  EXPECT_TRUE(fields_signed("", "x-goog-signedheaders=range%3bhost"));
  EXPECT_FALSE(fields_signed("", "X-Amz-SignedHeaders=host%3Brangexyz&range=1"));
  EXPECT_FALSE(fields_signed("", "X-Amz-SignedHeaders=host%3"));
}

TEST(PartHead, every_field_of_a_partial_response_is_read) {
  const ReadResponse read(
      ok("etag: \"v\"\r\nLAST-MODIFIED: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
         "Date: Tue, 14 Nov 2023 22:14:20 GMT\r\nContent-Range: bytes 1-2/3\r\n"
         "Content-Type: a/b\r\nContent-Encoding: gzip\r\nX-Goog-Generation: 17\r\n"
         "Content-Length: 5\r\n"));
  const PartHead part = part_of(read);
  EXPECT_EQ(part.status, 200);
  EXPECT_EQ(part.end, BodyEnd::length);
  EXPECT_EQ(part.length, 5U);
  EXPECT_EQ(part.entity_tag, "\"v\"");
  EXPECT_EQ(part.last_modified_at, 1700000000);
  EXPECT_EQ(part.date, 1700000060);
  EXPECT_EQ(part.content_range, "bytes 1-2/3");
  EXPECT_EQ(part.content_type, "a/b");
  EXPECT_EQ(part.content_encoding, "gzip");
  EXPECT_EQ(part.versions[0], "") << "a tag is no field like others";
  EXPECT_EQ(part.versions[1], "17");
  EXPECT_TRUE(part.uses_tags);
  EXPECT_FALSE(part.doubled || part.has_trailer);
}

TEST(PartHead, E3_E7_response_in_which_a_field_occurs_twice_is_flagged) {
  for (const char* line : {"ETag: \"v\"\r\n", "Content-Range: bytes 1-2/3\r\n", "Content-Type: a/b\r\n",
                           "Content-Encoding: identity\r\n", "X-Goog-Generation: 1\r\n",
                           "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n"}) {
    const ReadResponse once(ok(string(line) + "Content-Length: 5\r\n"));
    EXPECT_FALSE(part_of(once).doubled) << line;
    const ReadResponse twice(ok(string(line) + line + "Content-Length: 5\r\n"));
    EXPECT_TRUE(part_of(twice).doubled) << line;
  }
  const ReadResponse empty(ok("ETag:\r\nETag: \"v\"\r\nContent-Length: 5\r\n"));
  EXPECT_TRUE(part_of(empty).doubled);
}

TEST(PartHead, version_fields_are_read_in_the_order_of_the_validator_list) {
  const ReadResponse read(
      ok("ETag: \"v\"\r\nX-AMZ-Version-Id:  aB \r\nX-Checksum: 9\r\nContent-Length: 5\r\n"));
  EXPECT_EQ(part_of(read).versions[2], "aB");
  const PartHead part = read_part_head(read.head, {"x-checksum", "x-amz-version-id"}, now);
  EXPECT_EQ(part.versions[0], "9");
  EXPECT_EQ(part.versions[1], "aB");
  EXPECT_FALSE(part.uses_tags);
  EXPECT_EQ(part.entity_tag, "\"v\"");
  const PartHead none = read_part_head(read.head, {}, now);
  EXPECT_EQ(none.versions, (std::array<string_view, policy::most_validators>{}));
}

TEST(PartHead, duplicate_version_field_is_flagged_regardless_of_letter_case) {
  const ReadResponse twice(ok("x-amz-version-id: a\r\nX-Amz-Version-Id: a\r\nContent-Length: 5\r\n"));
  EXPECT_TRUE(part_of(twice).doubled);
  EXPECT_FALSE(read_part_head(twice.head, {"etag"}, now).doubled) << "it is not listed";
}

TEST(PartHead, hop_by_hop_field_of_a_response_is_not_used_as_a_version_field) {
  const ReadResponse named(
      ok("x-goog-generation: 17\r\nx-amz-version-id: a\r\nConnection: X-Goog-Generation\r\n"
         "Content-Length: 5\r\n"));
  EXPECT_EQ(part_of(named).versions[1], "");
  EXPECT_EQ(part_of(named).versions[2], "a");
  const ReadResponse tag(ok("ETag: \"v\"\r\nConnection: etag\r\nContent-Length: 5\r\n"));
  EXPECT_EQ(part_of(tag).entity_tag, "\"v\"") << "row J1: it is end-to-end, and stays";
  const ReadResponse hop(ok("Keep-Alive: 5\r\nContent-Length: 5\r\n"));
  EXPECT_EQ(read_part_head(hop.head, {"keep-alive"}, now).versions[0], "");
}

TEST(PartHead, framing_fields_determine_how_the_body_of_a_response_ends) {
  const ReadResponse chunked(ok("Transfer-Encoding: chunked\r\nTrailer: X\r\n"));
  EXPECT_EQ(part_of(chunked).end, BodyEnd::last_chunk);
  EXPECT_TRUE(part_of(chunked).has_trailer);
  EXPECT_EQ(part_of(ReadResponse(ok(""))).end, BodyEnd::close);
  EXPECT_EQ(part_of(ReadResponse(ok("Content-Length: 5\r\n"), "HEAD")).end, BodyEnd::none);
}

string ranged(string_view outgoing, const RangeAsked& wish) {
  string out;
  write_range_request(outgoing, wish, out);
  return out;
}

TEST(RangeRequest, range_request_adds_only_range_and_if_range) {
  const string head = "GET /a?b HTTP/1.1\r\nHost: h\r\nX-Odd:  a\tb \r\nVia: 1.1 r\r\n";
  EXPECT_EQ(ranged(head + "\r\n", {{40, std::nullopt}, "\"v\""}),
            head + "Range: bytes=40-\r\nIf-Range: \"v\"\r\n\r\n");
  EXPECT_EQ(ranged(head, {{40, 99}, ""}), head + "Range: bytes=40-99\r\n");
}

TEST(RangeRequest, range_request_omits_a_declined_upgrade) {
  EXPECT_EQ(
      ranged("GET / HTTP/1.1\r\nHost: h\r\nUpgrade: TLS/1.2\r\nConnection: upgrade\r\n\r\n", {{7, 9}, ""}),
      "GET / HTTP/1.1\r\nHost: h\r\nRange: bytes=7-9\r\n\r\n");
  EXPECT_EQ(
      ranged("GET / HTTP/1.1\r\nupgrade: a\r\nTE: trailers\r\nConnection: TE, upgrade\r\n", {{7, 9}, ""}),
      "GET / HTTP/1.1\r\nTE: trailers\r\nConnection: TE\r\nRange: bytes=7-9\r\n");
  EXPECT_EQ(ranged("GET / HTTP/1.1\r\nX-Upgrade: a\r\n", {{7, 9}, ""}),
            "GET / HTTP/1.1\r\nX-Upgrade: a\r\nRange: bytes=7-9\r\n");
}

TEST(RangeRequest, J11_range_request_omits_the_conditions_of_the_client) {
  EXPECT_EQ(
      ranged("GET / HTTP/1.1\r\nrange: bytes=0-\r\nHost: h\r\nIF-NONE-MATCH: \"a\", \"b\"\r\n"
             "If-Match: *\r\nIf-Modified-Since: x\r\nIf-Unmodified-Since: y\r\nIf-Range: \"c\"\r\n"
             "X-Range: 1\r\nRange-If: 2\r\n\r\n",
             {{7, std::nullopt}, "\"v\""}),
      "GET / HTTP/1.1\r\nHost: h\r\nX-Range: 1\r\nRange-If: 2\r\nRange: bytes=7-\r\nIf-Range: \"v\"\r\n\r\n");
}

TEST(RangeRequest, J11_range_request_keeps_the_target_byte_for_byte) {
  for (const char* target : {"/o", "/o?alt=media", "/o?generation=17&x", "http://h/o?"}) {
    const string line = "GET " + string(target) + " HTTP/1.1\r\n";
    EXPECT_EQ(ranged(line + "Host: h\r\n\r\n", {{1, std::nullopt}, ""}),
              line + "Host: h\r\nRange: bytes=1-\r\n\r\n");
  }
}

}  // namespace
}  // namespace reprise::http::download_test
