// Tests where messages end in a body that arrives in pieces.
#include "proxy/http/grpc/message_boundary.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::http {
namespace {

using std::string;

string message(std::size_t size, char flags = 0) {
  string bytes{flags};
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(size >> shift);
  return bytes + string(size, '\x01');
}

TEST(MessageBoundary, M78_body_that_has_not_begun_is_between_messages) {
  MessageBoundary body;
  body.add("");
  EXPECT_FALSE(body.begun());
  EXPECT_TRUE(body.between_messages());
  EXPECT_EQ(body.messages(), 0U);
}

TEST(MessageBoundary, M78_every_byte_of_a_message_but_the_last_is_inside_it) {
  const std::vector<string> sent = {message(3), message(0), message(1, 1), message(256, '\xff'), message(0)};
  MessageBoundary body;
  std::uint64_t ended = 0;
  for (const string& one : sent) {
    for (std::size_t i = 0; i < one.size(); ++i) {
      body.add(std::string_view(one).substr(i, 1));
      EXPECT_TRUE(body.begun());
      EXPECT_EQ(body.between_messages(), i + 1 == one.size()) << "message " << ended << ", byte " << i;
    }
    EXPECT_EQ(body.messages(), ++ended);
  }
}

TEST(MessageBoundary, M78_pieces_may_be_split_anywhere) {
  const string bytes = message(4) + message(0) + message(7);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      MessageBoundary body;
      body.add(bytes.substr(0, first));
      EXPECT_EQ(body.between_messages(), first == 0 || first == 9 || first == 14 || first == 26) << first;
      body.add(bytes.substr(first, second - first));
      body.add(bytes.substr(second));
      EXPECT_TRUE(body.between_messages());
      EXPECT_EQ(body.messages(), 3U);
    }
  }
}

TEST(MessageBoundary, largest_length_is_read_as_unsigned) {
  MessageBoundary body;
  body.add(std::string_view("\0\xff\xff\xff\xff", 5));
  const string piece(1U << 20U, 'x');
  for (int i = 0; i < 4095; ++i) body.add(piece);
  EXPECT_EQ(body.messages(), 0U);
  body.add(std::string_view(piece).substr(2));
  EXPECT_FALSE(body.between_messages());
  body.add("x");
  EXPECT_TRUE(body.between_messages());
  EXPECT_EQ(body.messages(), 1U);
}

}  // namespace
}  // namespace reprise::http
