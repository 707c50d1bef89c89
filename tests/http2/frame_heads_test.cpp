// Tests reading of the heads of frames that arrive in any pieces.
#include "proxy/http/http2/frame_heads.hpp"

#include <vector>

#include "tests/support/http2_wire.hpp"

namespace reprise::http {
namespace {

using namespace play;

std::vector<FrameHead> read(std::string_view bytes, std::size_t piece) {
  FrameHeads heads(0);
  std::vector<FrameHead> all;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    std::string_view left = bytes.substr(0, piece);
    FrameHead head;
    while (heads.next(left, head)) all.push_back(head);
  }
  EXPECT_TRUE(heads.is_whole());
  return all;
}

// RFC 9113 4.1 reserves the bit before the stream's number: a receiver ignores it.
TEST(FrameHeads, reserved_bit_is_not_part_of_a_stream_number) {
  std::string ping = frame(FrameType::ping, 0, 0, "12345678");
  std::string body = frame(FrameType::data, end_stream, 5, "abc");
  std::string priority = frame(FrameType::priority, 0, 7, "\x80" + std::string("\0\0\5\xff", 4));
  for (std::string* each : {&ping, &body, &priority}) (*each)[5] = '\x80';
  const std::string bytes = ping + body + priority;
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const std::vector<FrameHead> heads = read(bytes, piece);
    ASSERT_EQ(heads.size(), 3U) << piece;
    EXPECT_EQ(heads[0].stream, 0);
    EXPECT_EQ(heads[1].stream, 5);
    EXPECT_EQ(heads[1].bytes, 3U);
    EXPECT_TRUE(heads[1].has(end_stream));
    EXPECT_EQ(heads[2].stream, 7);
    EXPECT_EQ(heads[2].depends_on, 5);
  }
}

}  // namespace
}  // namespace reprise::http
