// Tests which requests are gRPC calls, and what a call says about itself.
#include "proxy/http/grpc/call.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

bool is_call(const string& lines, bool over_http2 = true, const string& method = "POST") {
  ReadRequest read(method + " http://h/s/m HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n");
  EXPECT_EQ(read.parsed, complete) << lines;
  read.head.over_http2 = over_http2;
  return is_grpc_call(read.head);
}

TEST(Call, post_over_http2_is_a_call_if_its_content_type_is_grpc) {
  for (const string type : {"application/grpc", "application/grpc+proto", "application/grpc;charset=x",
                            "Application/GRPC+json", "application/grpc+"})
    EXPECT_TRUE(is_call("content-type: " + type + "\r\n")) << type;
  for (const string type : {"application/grpc-web", "application/grpc-web+proto", "application/grp", "",
                            "application/grpcx", "application/grpc ;x", "text/plain"})
    EXPECT_FALSE(is_call("content-type: " + type + "\r\n")) << type;
  EXPECT_FALSE(is_call(""));
  EXPECT_FALSE(is_call("accept: application/grpc\r\n"));
}

TEST(Call, other_method_or_http1_is_no_call) {
  EXPECT_FALSE(is_call("content-type: application/grpc\r\n", true, "PUT"));
  EXPECT_FALSE(is_call("content-type: application/grpc\r\n", false));
}

}  // namespace
}  // namespace reprise::http
