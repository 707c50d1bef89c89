// Tests how a TLS alert of the other side becomes a refusal: whether the refusal is permanent, and how it is
// described.
#include "proxy/net/tls/tls_remarks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace reprise::net {
namespace {

TlsRefusal after_alert(int alert, bool asked_for_certificate = false) {
  TlsRemarks remarks;
  remarks.alert = alert;
  remarks.asked_for_certificate = asked_for_certificate;
  return refusal_in(remarks);
}

TEST(TlsRemarks, N11_certificate_alerts_count_as_permanent_failures) {
  const std::map<int, std::string> final_alerts{{42, "bad certificate"},     {43, "unsupported certificate"},
                                                {44, "certificate revoked"}, {45, "certificate expired"},
                                                {46, "certificate unknown"}, {48, "unknown CA"},
                                                {49, "access denied"},       {116, "certificate required"}};
  for (const auto& [alert, words] : final_alerts) {
    EXPECT_EQ(after_alert(alert).words, words);
    EXPECT_TRUE(after_alert(alert).is_permanent) << words;
  }
}

TEST(TlsRemarks, N11_alerts_not_about_certificates_are_named_and_count_as_temporary_failures) {
  const std::map<int, std::string> others{{10, "unexpected_message"},
                                          {40, "handshake failure"},
                                          {80, "internal error"},
                                          {120, "no application protocol"}};
  for (const auto& [alert, words] : others) {
    EXPECT_EQ(after_alert(alert).words, words);
    EXPECT_FALSE(after_alert(alert).is_permanent) << words;
  }
}

TEST(TlsRemarks, N11_handshake_failure_after_a_certificate_request_is_permanent) {
  EXPECT_TRUE(after_alert(40, true).is_permanent);
  EXPECT_FALSE(after_alert(80, true).is_permanent);
}

TEST(TlsRemarks, N9_renegotiation_request_is_named_regardless_of_the_following_alert) {
  TlsRemarks remarks;
  remarks.asked_for_renegotiation = true;
  for (const int alert : {-1, 40}) {
    remarks.alert = alert;
    EXPECT_NE(refusal_in(remarks).words.find("renegotiation"), std::string::npos);
    EXPECT_TRUE(refusal_in(remarks).is_permanent);
  }
}

TEST(TlsRemarks, tls_failure_without_an_alert_is_not_reported_as_a_refusal) {
  EXPECT_EQ(refusal_in({}).words, "");
  EXPECT_FALSE(refusal_in({}).is_permanent);
}

}  // namespace
}  // namespace reprise::net
