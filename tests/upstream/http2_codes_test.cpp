// Tests that the metrics and the wire use the same words for the error codes of HTTP/2.
#include <gtest/gtest.h>

#include "proxy/http/http2/error_code.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {
namespace {

TEST(Http2Codes, M108_metric_labels_are_the_words_of_the_codes) {
  ASSERT_EQ(policy::count_of<telemetry::Http2CodeWord>, http::http2_word_count);
  for (std::size_t i = 0; i < http::http2_word_count; ++i)
    EXPECT_EQ(telemetry::word(static_cast<telemetry::Http2CodeWord>(i)),
              http::word(static_cast<http::Http2Code>(i)));
}

}  // namespace
}  // namespace reprise::net
