// Tests warnings about expiring certificates: once a day from 30 days before expiry, even if the clock jumps.
#include "proxy/forward/worker/certificate_ends.hpp"

#include <gtest/gtest.h>

namespace reprise::forward::certificate_ends_test {
namespace {

constexpr std::int64_t day = EndingCertificates::day;
constexpr std::int64_t start = 1'800'000'000;

net::CertificateEnd authority_in(std::int64_t seconds) {
  return {telemetry::CertificateUse::authority, "intercept.ca", start + seconds,
          "reprise ca renew makes a new one"};
}

TEST(EndingCertificates, N12_warning_is_logged_daily_from_thirty_days_before_expiry) {
  EndingCertificates ending;
  const std::vector<net::CertificateEnd> ends{authority_in(40 * day)};
  int lines = 0;
  for (std::int64_t hour = 0; hour < 50 * 24; ++hour)
    lines += static_cast<int>(ending.warnings(ends, start + hour * 3600 + 1).size());
  EXPECT_EQ(lines, 40);
}

TEST(EndingCertificates, N12_warning_gives_the_days_left_and_the_remedy) {
  EndingCertificates ending;
  const std::vector<net::CertificateEnd> ends{authority_in(10 * day + 60)};
  EXPECT_EQ(ending.warnings(ends, start),
            std::vector<std::string>{
                "the certificate of intercept.ca expires in 10 days: reprise ca renew makes a new one"});
  EXPECT_EQ(ending.warnings(ends, start + 13 * day),
            std::vector<std::string>{
                "the certificate of intercept.ca expired 2 days ago: reprise ca renew makes a new one"});
}

TEST(EndingCertificates, N12_warning_about_each_certificate_is_repeated_a_day_after_its_previous_warning) {
  EndingCertificates ending;
  net::CertificateEnd client{telemetry::CertificateUse::client, "tls.certificate /c.pem", start + day,
                             "put a new one there"};
  EXPECT_EQ(ending.warnings({authority_in(day)}, start).size(), 1U);
  EXPECT_EQ(ending.warnings({authority_in(day), client}, start + 3600).size(), 1U);
  EXPECT_EQ(ending.warnings({authority_in(day), client}, start + day).size(), 1U);
}

TEST(EndingCertificates, N12_expiry_warning_is_logged_again_after_a_renewal_or_a_clock_that_was_set_back) {
  EndingCertificates ending;
  EXPECT_EQ(ending.warnings({authority_in(day)}, start).size(), 1U);
  EXPECT_TRUE(ending.warnings({authority_in(400 * day)}, start + 10).empty());
  EXPECT_EQ(ending.warnings({authority_in(day)}, start + 20).size(), 1U);
  EXPECT_EQ(ending.warnings({authority_in(day)}, start - 5 * 3600).size(), 1U);
}

}  // namespace
}  // namespace reprise::forward::certificate_ends_test
