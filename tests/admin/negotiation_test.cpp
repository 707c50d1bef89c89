#include "proxy/server/admin/negotiation.hpp"

#include <gtest/gtest.h>

#include <boost/beast/zlib/inflate_stream.hpp>

#include "proxy/server/admin/gzip.hpp"

namespace reprise::server {
namespace negotiation_test {
namespace {

bool is_open(std::string_view accept) {
  return exposition_for(accept) == telemetry::Exposition::open_metrics;
}

TEST(Negotiation, openmetrics_is_chosen_only_if_named_with_the_highest_weight) {
  for (const char* accept :
       {"application/openmetrics-text", "Application/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=0.001",
        "text/plain;q=0.5,application/openmetrics-text;q=0.6", "application/openmetrics-text, */*",
        "text/plain;version=1.0.0, application/openmetrics-text;version=1.0.0;q=0.1"})
    EXPECT_TRUE(is_open(accept)) << accept;
  for (const char* accept :
       {"", "*/*", "text/*", "text/plain, application/openmetrics-text", "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=2", "application/openmetrics-text;q=0.5x", "application/*",
        "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;q=0.3,*/*;q=0.4", ",;=,"})
    EXPECT_FALSE(is_open(accept)) << accept;
}

TEST(Negotiation, gzip_is_chosen_only_if_its_weight_is_positive_and_not_below_identity) {
  for (const char* accept :
       {"gzip", "x-gzip", "*", "br;q=1, gzip;q=0.001", "gzip;q=0.5,identity;q=0.5", "GZip;Q=1.000"})
    EXPECT_TRUE(takes_gzip(accept)) << accept;
  for (const char* accept :
       {"", "br", "identity", "gzip;q=0", "gzip;q=0.0", "*, gzip;q=0", "gzip;q=0.5,identity", "gzip;q="})
    EXPECT_FALSE(takes_gzip(accept)) << accept;
}

// Inflates the bytes between header and trailer of a gzip member.
std::string inflated(std::string_view member) {
  namespace zlib = boost::beast::zlib;
  constexpr std::size_t header = 10;
  constexpr std::size_t trailer = 8;
  zlib::inflate_stream stream;
  std::string out(1 << 20, '\0');
  zlib::z_params step;
  step.next_in = member.data() + header;
  step.avail_in = member.size() - header - trailer;
  step.next_out = out.data();
  step.avail_out = out.size();
  boost::beast::error_code ended;
  stream.write(step, zlib::Flush::finish, ended);
  EXPECT_EQ(ended, zlib::error::end_of_stream);
  out.resize(step.total_out);
  return out;
}

TEST(Gzip, gzip_output_is_one_member_that_inflates_to_the_same_text) {
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "reprise_requests_total{code=\"" + std::to_string(i) + "\"} 1\n";
  for (const std::string& text : {std::string(), std::string("x"), many}) {
    const std::string member = gzip(text);
    EXPECT_EQ(member.substr(0, 3), "\x1f\x8b\x08");
    EXPECT_TRUE(inflated(member) == text) << text.size();
  }
  EXPECT_LT(gzip(many).size() * 5, many.size());
  // ITU-T V.42 gives the CRC-32 of "123456789". After the CRC comes the length, least significant byte first.
  EXPECT_EQ(gzip("123456789").substr(gzip("123456789").size() - 8),
            std::string("\x26\x39\xf4\xcb\x09\0\0\0", 8));
}

}  // namespace
}  // namespace negotiation_test
}  // namespace reprise::server
