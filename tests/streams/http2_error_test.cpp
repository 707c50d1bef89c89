// Tests the words of the errors of HTTP/2.
#include "proxy/net/io/http2_error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace reprise::net {
namespace {

TEST(Http2ErrorWords, each_error_has_its_own_words_and_the_category_of_http_2) {
  std::set<std::string> words;
  constexpr Http2Error errors[] = {Http2Error::reset,         Http2Error::refused,   Http2Error::needs_http1,
                                   Http2Error::above_last_id, Http2Error::malformed, Http2Error::no_room,
                                   Http2Error::not_http2};
  for (const Http2Error error : errors) {
    const ErrorCode code = make_error_code(error);
    EXPECT_TRUE(code);
    EXPECT_STREQ(code.category().name(), "http2");
    words.insert(code.message());
  }
  EXPECT_EQ(words.size(), std::size(errors));
  EXPECT_EQ(make_error_code(Http2Error::refused).message(), "the stream was refused");
  EXPECT_EQ(make_error_code(Http2Error::not_http2).message(), "the upstream does not speak HTTP/2");
}

}  // namespace
}  // namespace reprise::net
