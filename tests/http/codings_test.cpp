// Which transfer coding a response is refused for, in words of ours.
#include "proxy/http/http1/codings.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace reprise::http {
namespace {

std::string_view refused(const std::vector<std::string_view>& values) {
  std::vector<FieldLine> fields{{"Server", "deflate", "Server: deflate\r\n", FieldId::other}};
  for (const std::string_view value : values)
    fields.push_back({"Transfer-Encoding", value, value, FieldId::transfer_encoding});
  return unsupported_coding(fields);
}

TEST(Codings, the_first_that_is_not_supported_is_named) {
  EXPECT_EQ(refused({"chunked, deflate"}), "the transfer coding deflate is not supported");
  EXPECT_EQ(refused({"GZip, deflate"}), "the transfer coding gzip is not supported");
  EXPECT_EQ(refused({"chunked", "x-compress"}), "the transfer coding x-compress is not supported");
  EXPECT_EQ(refused({"identity, compress"}), "the transfer coding compress is not supported");
}

TEST(Codings, no_byte_of_the_message_is_in_the_words) {
  EXPECT_EQ(refused({"secret"}), "a transfer coding that is not chunked is not supported");
  EXPECT_EQ(refused({"chunked", "chunked"}), "the transfer coding chunked is there twice");
}

TEST(Codings, nothing_is_named_where_nothing_is_wrong) {
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({"chunked"}), "");
  EXPECT_EQ(refused({"identity, chunked"}), "");
}

}  // namespace
}  // namespace reprise::http
