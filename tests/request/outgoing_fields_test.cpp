// Tests the fields that idempotency rules may use: those that reach the upstream.
#include "proxy/forward/request/outgoing_fields.hpp"
#include "proxy/http/http1/parse.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/intake.hpp"
#include "tests/http/reading.hpp"

namespace reprise::forward {
namespace {

/// A request with the given field lines, and the head that is sent upstream.
struct Sent {
  explicit Sent(const std::string& lines)
      : text("POST http://up.test/x HTTP/1.1\r\nHost: up.test\r\n" + lines + "\r\n") {
    EXPECT_EQ(http::parse_request(text, {}, head), http::Parsed{http::Progress::complete});
    const http::Intake intake = http::take_forward(head, {});
    http::write_request_head(head, std::get<http::Forward>(intake), "reprise-x",
                             http::asks_upgrade(head, http::ToH2c::dropped), outgoing);
  }
  bool has(std::string_view name, std::string_view value = {}) const {
    std::optional<http::NamedByConnection> named;
    return OutgoingFields(head, outgoing, named).has(name, value);
  }
  std::string text;
  http::RequestHead head;
  std::string outgoing;
};

TEST(Leaving, L11_field_listed_in_connection_does_not_meet_a_condition) {
  EXPECT_TRUE(Sent("X-Key: 1\r\n").has("x-key"));
  EXPECT_FALSE(Sent("Connection: X-Key\r\nX-Key: 1\r\n").has("X-Key"));
  EXPECT_FALSE(Sent("Connection: close, x-KEY\r\nX-Key: 1\r\n").has("X-Key"));
  EXPECT_TRUE(Sent("Connection: X-Other\r\nX-Key: 1\r\n").has("X-Key"));
}

TEST(Leaving, connection_field_is_parsed_once_for_all_conditions) {
  const Sent sent("Connection: X-Key\r\nX-Key: 1\r\nX-Other: 2\r\n");
  std::optional<http::NamedByConnection> named;
  EXPECT_TRUE(OutgoingFields(sent.head, sent.outgoing, named).has("X-Other", {}));
  ASSERT_TRUE(named);
  const http::RequestHead nothing;
  const OutgoingFields again(nothing, sent.outgoing, named);
  EXPECT_FALSE(again.has("X-Key", {})) << "it was kept";
  EXPECT_TRUE(again.has("X-Other", {}));
}

TEST(Leaving, L11_forwarded_field_listed_in_connection_does_not_meet_a_condition) {
  EXPECT_TRUE(Sent("Idempotency-Key: 1\r\n").has("Idempotency-Key"));
  const Sent listed("Connection: Idempotency-Key\r\nIdempotency-Key: 1\r\n");
  EXPECT_FALSE(listed.has("Idempotency-Key"));
  EXPECT_NE(listed.outgoing.find("Idempotency-Key: 1\r\n"), std::string::npos) << "row J1";
}

TEST(Leaving, L11_rules_judge_the_fields_that_are_sent_after_removal_and_rewriting) {
  EXPECT_FALSE(Sent("Proxy-Authorization: Basic x\r\n").has("Proxy-Authorization"));
  EXPECT_FALSE(Sent("Reprise-Attempt: 2\r\n").has("Reprise-Attempt"));
  EXPECT_FALSE(Sent("Keep-Alive: timeout=5\r\n").has("Keep-Alive"));
  EXPECT_FALSE(Sent("Upgrade: websocket\r\n").has("Upgrade")) << "Connection does not ask for it";
  EXPECT_TRUE(Sent("Connection: upgrade\r\nUpgrade: websocket\r\n").has("Upgrade", "websocket"));
  EXPECT_TRUE(Sent("TE: trailers, deflate\r\n").has("TE", "trailers"));
  EXPECT_FALSE(Sent("TE: trailers, deflate\r\n").has("TE", "trailers, deflate"));
  EXPECT_TRUE(Sent("").has("Host", "up.test"));
}

TEST(Leaving, L11_values_are_compared_without_blanks_and_empty_values_do_not_count) {
  EXPECT_TRUE(Sent("X-Key: \t abc \r\n").has("X-Key", "abc"));
  EXPECT_FALSE(Sent("X-Key: abcd\r\n").has("X-Key", "abc"));
  EXPECT_FALSE(Sent("X-Key:\r\n").has("X-Key"));
  EXPECT_TRUE(Sent("X-Key:\r\nX-Key: 2\r\n").has("X-Key")) << "one of several";
  EXPECT_FALSE(Sent("X-Key: 1\r\n").has("POST http")) << "the start line is no field";
}

}  // namespace
}  // namespace reprise::forward
