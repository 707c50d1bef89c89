// Tests the count of frames with an error code that an upstream has sent.
#include <gtest/gtest.h>

#include "proxy/http/http2/request_fields.hpp"
#include "proxy/http/http2/stream_memory.hpp"
#include "proxy/http/http2/upstream_wire.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::http {
namespace received_codes_test {
namespace {

using namespace play;

constexpr std::uint32_t cancel = 8;
constexpr std::uint32_t unlisted = 99;

void write_all(UpstreamWire& wire) {
  while (!wire.output().empty()) wire.written(wire.output().size());
}

TEST(ReceivedCodes, M108_goaways_and_resets_are_counted_by_code_until_they_are_taken) {
  StreamMemory memory(1 << 20);
  UpstreamWire wire(HeadLimits(), memory);
  write_all(wire);
  wire.receive(settings({}) + frame(FrameType::settings, ack, 0, ""));
  EXPECT_FALSE(wire.take_codes());
  FieldBlock block;
  write_request_fields("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "http", block);
  const StreamId first = wire.open(block, true);
  const StreamId second = wire.open(block, true);
  write_all(wire);
  wire.receive(rst_stream(first, cancel) + rst_stream(second, unlisted));
  wire.receive(goaway(0x7fffffff, 0) + goaway(0, 0));
  const auto codes = wire.take_codes();
  ASSERT_TRUE(codes);
  EXPECT_EQ(codes->resets[static_cast<std::size_t>(Http2Code::cancel)], 1U);
  EXPECT_EQ(codes->resets[static_cast<std::size_t>(Http2Code::other)], 1U) << "other";
  EXPECT_EQ(codes->goaways[static_cast<std::size_t>(Http2Code::no_error)], 2U);
  EXPECT_FALSE(wire.take_codes());
}

TEST(Http2Code, M108_code_that_is_not_listed_is_called_other) {
  EXPECT_EQ(word(Http2Code::http_1_1_required), "http_1_1_required");
  EXPECT_EQ(word(static_cast<Http2Code>(14)), "other");
  EXPECT_EQ(word(static_cast<Http2Code>(0xffffffff)), "other");
}

}  // namespace
}  // namespace received_codes_test
}  // namespace reprise::http
