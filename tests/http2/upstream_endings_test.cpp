// Tests how a response over UpstreamWire ends: complete, malformed, reset, or excluded by GOAWAY (rows M38,
// M41, M42, M56, M66, M70 and B10).
#include "proxy/http/message/interims.hpp"
#include "tests/support/http2_wire.hpp"

namespace reprise::http {
namespace {

using namespace play;
using Kind = Http2Failure::Kind;

class UpstreamEndingsTest : public WireTest {
 protected:
  /// Sends the request and receives the bytes that `response` makes for its stream. Returns the stream.
  template <typename Response>
  StreamId exchange(std::string_view head, Response response) {
    const StreamId id = ask(head);
    wire.receive(response(id));
    sent = flush();
    return id;
  }
  bool has_sent(FrameType type, StreamId id) const {
    for (const Frame& one : sent)
      if (one.type == type && one.stream == id) return true;
    return false;
  }
  void expect_complete(StreamId id, std::string_view what) {
    EXPECT_TRUE(wire.message(id).ended) << what;
    EXPECT_FALSE(wire.message(id).failure) << what;
  }
  void expect_malformed(StreamId id, std::string_view what) {
    EXPECT_FALSE(wire.message(id).ended) << what;
    ASSERT_TRUE(wire.message(id).failure) << what;
    EXPECT_EQ(wire.message(id).failure->kind, Kind::malformed) << what;
    EXPECT_TRUE(has_sent(FrameType::rst_stream, id)) << what;
    EXPECT_FALSE(wire.failure()) << what;
  }

  std::vector<Frame> sent;
};

constexpr std::string_view head_request = "HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n";
constexpr std::string_view get_request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

struct NoBody {
  std::string_view request;
  FieldList fields;
};

std::vector<NoBody> responses_without_a_body() {
  return {{head_request, {{":status", "200"}}},
          {head_request, {{":status", "200"}, {"content-length", "3"}}},
          {get_request, {{":status", "204"}}},
          {get_request, {{":status", "304"}}},
          {get_request, {{":status", "304"}, {"content-length", "3"}}}};
}

TEST_F(UpstreamEndingsTest, M38_response_without_a_body_ends_with_its_head_or_with_an_empty_frame) {
  connect();
  for (const NoBody& one : responses_without_a_body()) {
    const FieldList& fields = one.fields;
    const std::string what = testing::PrintToString(fields);
    const StreamId at_once =
        exchange(one.request, [&](StreamId id) { return headers(id, fields, end_stream); });
    expect_complete(at_once, what);
    EXPECT_TRUE(wire.closed(at_once)) << what;
    const StreamId late =
        exchange(one.request, [&](StreamId id) { return headers(id, fields) + data(id, "", end_stream); });
    expect_complete(late, what);
  }
}

TEST_F(UpstreamEndingsTest, M38_data_for_a_response_without_a_body_is_malformed) {
  connect();
  for (const NoBody& one : responses_without_a_body()) {
    const FieldList& fields = one.fields;
    const StreamId id = exchange(one.request, [&](StreamId stream) {
      return headers(stream, fields) + data(stream, "abc", end_stream);
    });
    expect_malformed(id, testing::PrintToString(fields));
    EXPECT_TRUE(wire.message(id).body.empty());
  }
}

TEST_F(UpstreamEndingsTest, M41_reset_after_a_complete_response_changes_nothing) {
  connect();
  for (const std::uint32_t code : {0U, 2U, 5U, 8U, 0x1234U}) {
    const StreamId id = open(post, false);
    flush();
    wire.receive(headers(id, {{":status", "200"}}) + data(id, "abc", end_stream) + rst_stream(id, code));
    expect_complete(id, std::to_string(code));
    EXPECT_EQ(pass_on(id), "abc");
    EXPECT_TRUE(wire.closed(id));
    wire.release(id);
    EXPECT_TRUE(flush().empty()) << "the stream is reset only once";
  }
}

TEST_F(UpstreamEndingsTest, M41_reset_without_an_end_is_a_failure_even_with_no_error) {
  connect();
  const StreamId id = exchange(get_request, [](StreamId stream) {
    return headers(stream, {{":status", "200"}}) + data(stream, "abc") + rst_stream(stream, 0);
  });
  EXPECT_FALSE(wire.message(id).ended);
  ASSERT_TRUE(wire.message(id).failure);
  EXPECT_EQ(wire.message(id).failure->kind, Kind::reset);
  EXPECT_TRUE(wire.message(id).failure->responded);
}

TEST_F(UpstreamEndingsTest, M42_body_that_differs_from_its_content_length_is_malformed) {
  connect();
  const auto padded_data = [](StreamId id, std::string_view body, unsigned flags) {
    return frame(FrameType::data, padded | flags, id, "\x02" + std::string(body) + std::string(2, '\0'));
  };
  const FieldList three = {{":status", "200"}, {"content-length", "3"}};
  for (const std::string_view body : {"", "ab", "abcd"}) {
    expect_malformed(
        exchange(get_request, [&](StreamId id) { return headers(id, three) + data(id, body, end_stream); }),
        body);
    expect_malformed(
        exchange(get_request,
                 [&](StreamId id) { return headers(id, three) + padded_data(id, body, end_stream); }),
        body);
    expect_malformed(
        exchange(get_request,
                 [&](StreamId id) {
                   return headers(id, three) + data(id, body) + headers(id, {{"x-sum", "7"}}, end_stream);
                 }),
        body);
  }
  expect_malformed(exchange(get_request, [&](StreamId id) { return headers(id, three, end_stream); }),
                   "no body");
  const StreamId good = exchange(get_request, [&](StreamId id) {
    return headers(id, three) + padded_data(id, "ab", 0) + padded_data(id, "c", end_stream);
  });
  expect_complete(good, "padding does not count");
  EXPECT_EQ(pass_on(good), "abc");
}

TEST_F(UpstreamEndingsTest, M42_longer_body_fails_before_its_end) {
  connect();
  const StreamId id = exchange(get_request, [](StreamId stream) {
    return headers(stream, {{":status", "200"}, {"content-length", "3"}}) + data(stream, "abcd");
  });
  expect_malformed(id, "4 bytes of 3");
}

TEST_F(UpstreamEndingsTest, M66_stream_is_reset_once_and_frames_that_come_later_are_ignored) {
  connect();
  const StreamId id = ask();
  wire.receive(headers(id, {{":status", "200"}}));
  wire.release(id);
  std::size_t resets = 0;
  for (const std::string& late : {data(id, "abc"), headers(id, {{"x-sum", "7"}}, end_stream),
                                  rst_stream(id, 8), window_update(id, 5)}) {
    wire.receive(late);
    for (const Frame& one : flush()) resets += one.type == FrameType::rst_stream ? 1 : 0;
  }
  EXPECT_EQ(resets, 1U);
  EXPECT_FALSE(wire.failure());
  EXPECT_EQ(wire.open_streams(), 0U);
}

TEST_F(UpstreamEndingsTest, M66_stream_that_failed_is_not_reset_again) {
  connect();
  const StreamId id = exchange(get_request, [](StreamId stream) { return rst_stream(stream, 2); });
  wire.release(id);
  EXPECT_TRUE(flush().empty());
}

TEST_F(UpstreamEndingsTest, M70_failure_tells_whether_a_response_had_begun) {
  connect();
  const StreamId silent = exchange(get_request, [](StreamId id) { return rst_stream(id, 8); });
  const StreamId interim = exchange(get_request, [](StreamId id) {
    return headers(id, {{":status", "103"}}) + rst_stream(id, 8);
  });
  const StreamId refused = exchange(get_request, [](StreamId id) {
    return headers(id, {{":status", "103"}}) + rst_stream(id, 7);
  });
  EXPECT_FALSE(wire.message(silent).failure->responded);
  EXPECT_TRUE(wire.message(interim).failure->responded);
  EXPECT_TRUE(wire.message(refused).failure->responded) << "such a refusal proves nothing";
}

TEST_F(UpstreamEndingsTest, M56_goaway_excludes_a_stream_that_responds_but_the_failure_says_so) {
  connect();
  const StreamId responds = ask();
  const StreamId ended = ask();
  const StreamId silent = ask();
  wire.receive(headers(responds, {{":status", "200"}}) + data(responds, "ab") +
               headers(ended, {{":status", "204"}}, end_stream) + goaway(0, 2));
  ASSERT_TRUE(wire.message(responds).failure);
  EXPECT_EQ(wire.message(responds).failure->kind, Kind::above_last_id);
  EXPECT_TRUE(wire.message(responds).failure->responded);
  expect_complete(ended, "it had ended before");
  ASSERT_TRUE(wire.message(silent).failure);
  EXPECT_FALSE(wire.message(silent).failure->responded);
  EXPECT_EQ(wire.goaway_code(), Http2Code::internal_error);
}

TEST_F(UpstreamEndingsTest, B10_as_many_interim_heads_as_allowed_pass_and_one_more_fails_the_stream) {
  connect();
  const StreamId id = ask();
  const StreamId other = ask();
  for (unsigned i = 0; i < Interims::most; ++i) wire.receive(headers(id, {{":status", "103"}}));
  EXPECT_FALSE(wire.message(id).failure);
  wire.receive(headers(id, {{":status", "103"}}));
  sent = flush();
  expect_malformed(id, "101 interim heads");
  wire.receive(headers(other, {{":status", "204"}}, end_stream));
  expect_complete(other, "another stream");
}

TEST_F(UpstreamEndingsTest, B10_interim_heads_are_bounded_by_their_bytes_too) {
  connect();
  const StreamId id = ask();
  const std::string value(8000, 'x');
  for (int i = 0; i < 1000; ++i) wire.receive(headers(id, {{":status", "103"}, {"link", value}}));
  sent = flush();
  expect_malformed(id, "too many bytes");
  EXPECT_LE(wire.message(id).heads.size(), Interims::most_bytes);
  EXPECT_GT(wire.message(id).heads.size(), Interims::most_bytes - value.size() - 100);
}

}  // namespace
}  // namespace reprise::http
