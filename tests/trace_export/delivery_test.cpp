// Tests what a collector's response means for a batch.
#include "proxy/server/trace_export/delivery.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

using Kind = Decision::Kind;
using End = Posted::End;
using telemetry::SpanDrop;

Posted responded(int status, std::string body = {}) { return {End::responded, status, {}, std::move(body)}; }

TEST(Delivery, accepted_batch_is_delivered) {
  for (const int status : {200, 202, 204, 299})
    EXPECT_EQ(decide(responded(status), 1, 5, 9).kind, Kind::taken) << status;
  for (const char* body :
       {"", "{}", "\x08\x01", "[]", "{\"partialSuccess\":{}}", "{\"partialSuccess\":null}",
        "{\"partialSuccess\":{\"rejectedSpans\":\"0\"}}", "{\"partialSuccess\":{\"rejectedSpans\":true}}",
        "{\"partialSuccess\":{\"rejectedSpans\":-3}}"})
    EXPECT_EQ(decide(responded(200, body), 1, 5, 9).rejected, 0U) << body;
}

TEST(Delivery, rejected_spans_of_a_batch_are_counted) {
  EXPECT_EQ(
      decide(responded(200, R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}})"), 1, 5, 9)
          .rejected,
      3U);
  EXPECT_EQ(decide(responded(200, R"({"partialSuccess":{"rejectedSpans":3}})"), 1, 5, 9).rejected, 3U);
  EXPECT_EQ(decide(responded(200, R"({"partialSuccess":{"rejectedSpans":"99"}})"), 1, 5, 9).rejected, 9U)
      << "never more";
}

TEST(Delivery, only_statuses_named_by_the_protocol_are_retried) {
  for (const int status : {429, 502, 503, 504}) {
    EXPECT_EQ(decide(responded(status), 4, 5, 9).kind, Kind::again) << status;
    const Decision last = decide(responded(status), 5, 5, 9);
    EXPECT_EQ(last.kind, Kind::dropped) << status;
    EXPECT_EQ(last.cause, SpanDrop::busy) << status;
  }
  for (const int status : {301, 307, 400, 401, 404, 408, 413, 415, 500, 501, 505}) {
    const Decision decision = decide(responded(status), 1, 5, 9);
    EXPECT_EQ(decision.kind, Kind::dropped) << status;
    EXPECT_EQ(decision.cause, SpanDrop::refused) << status;
    EXPECT_FALSE(is_temporary(responded(status)));
  }
}

TEST(Delivery, failure_without_a_response_is_retried) {
  for (const End end :
       {End::unresolved, End::unconnected, End::timed_out, End::broken, End::malformed, End::cancelled}) {
    const Posted posted{end};
    EXPECT_TRUE(is_temporary(posted));
    EXPECT_EQ(decide(posted, 1, 2, 9).kind, Kind::again);
    EXPECT_EQ(decide(posted, 2, 2, 9).kind, Kind::dropped);
    EXPECT_EQ(decide(posted, 2, 2, 9).cause, SpanDrop::unreachable);
    EXPECT_FALSE(words_of(posted).empty());
  }
}

TEST(Delivery, log_message_about_a_delivery_contains_the_status_and_text_of_the_collector) {
  EXPECT_EQ(words_of(responded(400, "no such field")),
            "the collector responded with status 400: no such field");
  EXPECT_EQ(words_of(responded(413)), "the collector responded with status 413");
  EXPECT_EQ(words_of(responded(200, R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}})")),
            "the collector responded with status 200: old");
  EXPECT_EQ(words_of(responded(200, R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":7}})")),
            "the collector responded with status 200");
  EXPECT_LT(words_of(responded(400, std::string(100'000, 'x'))).size(), 300U);
  EXPECT_NE(words_of({End::malformed}).find("port"), std::string::npos);
}

}  // namespace
}  // namespace reprise::server
