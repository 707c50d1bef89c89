// Tests the error text for an unsupported transfer coding of a response.
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

TEST(Codings, first_unsupported_transfer_coding_is_named) {
  EXPECT_EQ(refused({"chunked, deflate"}), "the transfer coding deflate is not supported");
  EXPECT_EQ(refused({"GZip, deflate"}), "the transfer coding gzip is not supported");
  EXPECT_EQ(refused({"chunked", "x-compress"}), "the transfer coding x-compress is not supported");
  EXPECT_EQ(refused({"identity, compress"}), "the transfer coding compress is not supported");
}

TEST(Codings, error_text_contains_no_bytes_of_the_message) {
  EXPECT_EQ(refused({"secret"}), "only the transfer coding chunked is supported");
  EXPECT_EQ(refused({"chunked", "chunked"}), "the transfer coding chunked occurs twice");
}

TEST(Codings, supported_codings_cause_no_error) {
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({"chunked"}), "");
  EXPECT_EQ(refused({"identity, chunked"}), "");
}

}  // namespace
}  // namespace reprise::http
