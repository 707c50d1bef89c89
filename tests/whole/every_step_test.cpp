// Tests an upstream that breaks at every byte of the request and of the response. The client sees a complete
// correct response or a visible failure, and a POST is never executed twice.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

constexpr std::string_view right_body = "the right body, which has some sixty bytes in it, no more or less";

std::string counted() {
  return "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\nX-Story: every "
         "step\r\n"
         "Content-Length: " +
         std::to_string(right_body.size()) + "\r\n\r\n" + std::string(right_body);
}

std::string chunked() {
  return "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n"
         "Transfer-Encoding: chunked\r\n\r\n20\r\n" +
         std::string(right_body.substr(0, 32)) + "\r\n21\r\n" + std::string(right_body.substr(32)) +
         "\r\n0\r\n\r\n";
}

enum class Break : std::uint8_t { fin, rst };

/// How the next connection breaks if `armed` is true. Every other connection gets a complete response.
struct Plan {
  std::atomic<bool> armed{false};
  std::atomic<std::size_t> read{std::string::npos};  ///< request bytes read before the break; npos: all
  std::atomic<std::size_t> sent{0};                  ///< response bytes sent before the break
  std::atomic<Break> how{Break::fin};
  std::atomic<unsigned> executed{0};  ///< number of requests that were read completely
};

ScriptedUpstream::Script follow(Plan& plan, std::string whole) {
  return [&plan, whole = std::move(whole)](Peer& peer) {
    const bool breaks = plan.armed.exchange(false);
    const std::size_t read = plan.read;
    if (breaks && read != std::string::npos) {
      peer.socket.read_bytes(read);
    } else {
      if (!peer.read_request().empty()) ++plan.executed;
      peer.send(std::string_view(whole).substr(0, breaks ? plan.sent.load() : whole.size()));
    }
    if (breaks && plan.how == Break::rst) peer.socket.reset();
  };
}

Wishes without_budget() {
  Wishes wishes;
  wishes.route.budget.reset();
  return wishes;
}

/// Succeeds if the client saw the complete correct response or a visible failure.
::testing::AssertionResult is_honest(const WireResponse& got) {
  if (got.status == 502 && got.whole) return ::testing::AssertionSuccess();
  if (got.status == 200 && got.whole && got.body == right_body) return ::testing::AssertionSuccess();
  if (!got.whole && right_body.starts_with(got.body)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got.status << (got.whole ? " whole: " : " cut: ") << got.body;
}

struct Story {
  std::string name;
  std::string method;
  std::string response;
  Break how;
};
void PrintTo(const Story& story, std::ostream* out) { *out << story.name; }

class EveryStep : public ::testing::TestWithParam<Story> {};

TEST_P(EveryStep, response_cut_at_every_byte_is_never_taken_for_complete) {
  const Story& story = GetParam();
  Plan plan;
  plan.how = story.how;
  ScriptedUpstream upstream(follow(plan, story.response));
  RunningProxy proxy(without_budget());
  const bool get = story.method == "GET";
  const std::size_t head = story.response.find("\r\n\r\n") + 4;
  const std::string request = get ? play::get(upstream.authority())
                                  : play::with_body("POST", upstream.authority(), "to be carried out once");
  for (std::size_t sent = 0; sent <= story.response.size(); ++sent) {
    SCOPED_TRACE(sent);
    plan.sent = sent;
    plan.executed = 0;
    plan.armed = true;
    const unsigned before = upstream.connections();
    RawClient client = proxy.client();
    const WireResponse got = client.ask(request);
    EXPECT_TRUE(is_honest(got));
    const bool head_came = sent >= head;
    const bool all_came = sent == story.response.size();
    if (!get) {
      EXPECT_EQ(plan.executed, 1U);
      EXPECT_EQ(upstream.connections() - before, 1U);
    }
    if (!head_came) {
      EXPECT_EQ(got.status, get ? 200 : 502);  // only a GET is retried after the break
      EXPECT_TRUE(got.whole);
    } else if (story.how == Break::fin) {
      EXPECT_EQ(got.status, 200);
      EXPECT_EQ(got.whole, all_came);
    } else {
      // The reset may overtake the head of the response.
      EXPECT_TRUE(got.status == 200 || (got.status == 502 && !get)) << got.status;
    }
  }
}

TEST_P(EveryStep, request_cut_at_every_byte_is_never_executed_twice) {
  const Story& story = GetParam();
  Plan plan;
  plan.how = story.how;
  ScriptedUpstream upstream(follow(plan, story.response));
  RunningProxy proxy(without_budget());
  const bool get = story.method == "GET";
  const std::string request = get ? play::get(upstream.authority())
                                  : play::with_body("POST", upstream.authority(), "to be carried out once");
  for (std::size_t read = 0; read <= request.size(); read += get ? 1 : 2) {
    SCOPED_TRACE(read);
    plan.read = read;
    plan.executed = 0;
    plan.armed = true;
    const unsigned before = upstream.connections();
    RawClient client = proxy.client();
    const WireResponse got = client.ask(request);
    EXPECT_TRUE(is_honest(got));
    if (get) {
      EXPECT_EQ(got.status, 200);
      EXPECT_EQ(got.field("Reprise-Attempts"), "2");
    } else if (read == 0 && got.status == 200) {
      EXPECT_EQ(plan.executed, 1U);  // the first attempt sent no byte, so only the retry was executed
    } else {
      EXPECT_EQ(got.status, 502);
      EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
      EXPECT_EQ(plan.executed, 0U);
      EXPECT_EQ(upstream.connections() - before, 1U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Proxy, EveryStep,
                         ::testing::Values(Story{"get_counted_fin", "GET", counted(), Break::fin},
                                           Story{"get_counted_rst", "GET", counted(), Break::rst},
                                           Story{"get_chunked_fin", "GET", chunked(), Break::fin},
                                           Story{"get_chunked_rst", "GET", chunked(), Break::rst},
                                           Story{"post_counted_fin", "POST", counted(), Break::fin},
                                           Story{"post_counted_rst", "POST", counted(), Break::rst},
                                           Story{"post_chunked_fin", "POST", chunked(), Break::fin},
                                           Story{"post_chunked_rst", "POST", chunked(), Break::rst}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace reprise::server
