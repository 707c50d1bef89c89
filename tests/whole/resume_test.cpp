// Tests downloads that break on the way, through the whole proxy: rows E1 to E12 over real sockets.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>

#include "tests/support/range_server.hpp"
#include "tests/support/running_proxy.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::server::resume_test {
namespace {

using play::field_of;
using play::Heard;
using play::Peer;
using play::RangeResponse;
using play::RawClient;
using play::rest_of;
using play::RunningProxy;
using play::ScriptedUpstream;
using play::whole_of;
using play::Wire;
using play::WireResponse;
using play::Wishes;

constexpr std::size_t total = 100;
constexpr std::size_t got_first = 40;
const std::string body = play::representation(total);

/// The bytes that the upstream sends on one connection, and how the connection ends.
struct Turn {
  std::string bytes;
  enum class How : std::uint8_t { fin, rst, silent } how = How::fin;
};

/// Plays one turn for each connection. The last turn repeats.
ScriptedUpstream::Script turns(Heard& heard, std::vector<Turn> list) {
  return [&heard, list = std::move(list)](Peer& peer) {
    const Turn& turn = list[std::min<std::size_t>(peer.number, list.size()) - 1];
    const std::string head = peer.read_request();
    if (head.empty()) return;
    heard.add(head);
    peer.send(turn.bytes);
    if (turn.how == Turn::How::rst) peer.socket.reset();
    if (turn.how == Turn::How::silent) peer.socket.read_to_end();
  };
}

std::string cut_off(const RangeResponse& response, std::size_t body_bytes) {
  const std::string text = response.text();
  return text.substr(0, text.size() - response.body.size() + body_bytes);
}
Turn broken_first() { return {cut_off(whole_of(body), got_first)}; }

::testing::AssertionResult is_whole(const WireResponse& got) {
  if (got.status == 200 && got.whole && got.body == body) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got.status << (got.whole ? " whole: " : " cut: ") << got.body;
}

/// Fixture that downloads `body` through a proxy.
class ProxyResume : public ::testing::Test {
 protected:
  WireResponse download(std::vector<Turn> list, Wishes wishes = {}, std::string_view fields = {},
                        std::string_view path = "/") {
    upstream_.emplace(turns(heard_, std::move(list)));
    proxy_.emplace(std::move(wishes));
    client_.emplace(proxy_->port());
    return client_->ask(play::get(upstream_->authority(), path, fields));
  }
  bool refused_because(std::string_view reason) {
    const std::string series =
        "reprise_retries_refused_total{route=\"default\",reason=\"" + std::string(reason) + "\"}";
    return play::eventually([&] { return proxy_->metric(series) == 1; });
  }
  // Expects a download that was cut by FIN after exactly `bytes` bytes.
  void expect_cut(const WireResponse& got, std::string_view reason, std::size_t bytes = got_first) {
    EXPECT_EQ(got.status, 200);
    EXPECT_FALSE(got.whole);
    EXPECT_EQ(got.body, body.substr(0, bytes));
    EXPECT_EQ(client_->socket().read_to_end(), Wire::fin);
    EXPECT_TRUE(refused_because(reason)) << reason << "\n" << proxy_->metrics();
  }
  double metric(std::string_view name) {
    return proxy_->metric(std::string(name).append("{route=\"default\"}"));
  }

  Heard heard_;
  std::optional<ScriptedUpstream> upstream_;
  std::optional<RunningProxy> proxy_;
  std::optional<RawClient> client_;
};

TEST_F(ProxyResume, broken_download_is_resumed_and_the_client_sees_one_response) {
  const WireResponse got =
      download({broken_first(), {rest_of(body, got_first).text()}}, {}, "X-Odd: a  b\r\n");
  EXPECT_TRUE(is_whole(got));
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "");
  ASSERT_EQ(heard_.size(), 2U);
  EXPECT_EQ(field_of(heard_.at(1), "Range"), "bytes=40-");
  EXPECT_EQ(field_of(heard_.at(1), "If-Range"), "\"v1\"");
  EXPECT_EQ(field_of(heard_.at(1), "X-Odd"), "a  b");
  EXPECT_EQ(field_of(heard_.at(0), "Range"), "");
  EXPECT_TRUE(play::eventually([&] { return metric("reprise_resumed_downloads_total") == 1; }));
  EXPECT_EQ(metric("reprise_recovered_total"), 1);
  EXPECT_EQ(proxy_->metric("reprise_retries_total{route=\"default\",reason=\"resumed\"}"), 1);
  EXPECT_EQ(proxy_->metric("reprise_attempts_total{route=\"default\",outcome=\"truncated\"}"), 1);
  EXPECT_EQ(proxy_->metric("reprise_requests_total{route=\"default\",code=\"200\"}"), 1);
  // The client's connection stays usable.
  EXPECT_EQ(client_->ask(play::get(upstream_->authority())).status, 206);
}

TEST_F(ProxyResume, reset_download_is_resumed) {
  EXPECT_TRUE(is_whole(
      download({{cut_off(whole_of(body), got_first), Turn::How::rst}, {rest_of(body, got_first).text()}})));
}

TEST_F(ProxyResume, stalled_download_is_resumed) {
  Wishes wishes;
  wishes.route.resume.stall = std::chrono::milliseconds(200);
  EXPECT_TRUE(is_whole(download(
      {{cut_off(whole_of(body), got_first), Turn::How::silent}, {rest_of(body, got_first).text()}}, wishes)));
}

TEST_F(ProxyResume, resume_that_gets_no_response_head_is_tried_again) {
  Wishes wishes;
  wishes.route.resume.stall = std::chrono::milliseconds(200);
  EXPECT_TRUE(is_whole(
      download({broken_first(), {"", Turn::How::silent}, {rest_of(body, got_first).text()}}, wishes)));
}

TEST_F(ProxyResume, several_breaks_in_a_row_are_resumed) {
  const WireResponse got = download({broken_first(),
                                     {cut_off(rest_of(body, 40), 20)},
                                     {""},
                                     {cut_off(rest_of(body, 60), 0)},
                                     {rest_of(body, 60).text().substr(0, 30), Turn::How::rst},
                                     {cut_off(rest_of(body, 60), 39), Turn::How::rst},
                                     {rest_of(body, 99).text()}});
  EXPECT_TRUE(is_whole(got));
  ASSERT_EQ(heard_.size(), 7U);
  EXPECT_EQ(field_of(heard_.at(1), "Range"), "bytes=40-");
  EXPECT_EQ(field_of(heard_.at(5), "Range"), "bytes=60-");
  EXPECT_EQ(field_of(heard_.at(6), "Range"), "bytes=99-");
}

TEST_F(ProxyResume, download_is_cut_when_max_attempts_is_reached_without_a_new_byte) {
  Wishes wishes;
  wishes.route.resume.max_attempts = 2;
  expect_cut(download({broken_first(), {""}}, wishes), "attempts_spent");
  EXPECT_EQ(heard_.size(), 3U);
}

TEST_F(ProxyResume, download_is_cut_if_resume_is_disabled_or_only_observed_or_over_budget) {
  Wishes off;
  off.route.resume.enabled = false;
  expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, off), "response_started");
  Wishes observed;
  observed.route.mode = policy::Mode::observe;
  expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, observed), "observe_only");
  Wishes poor;
  poor.route.budget = policy::BudgetPolicy{0, 0, std::chrono::seconds(10)};
  expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, poor), "budget_spent");
  EXPECT_EQ(heard_.size(), 3U);
}

TEST_F(ProxyResume, E1_full_200_response_with_the_same_representation_continues_the_download) {
  EXPECT_TRUE(is_whole(download({broken_first(), {whole_of(body).text()}})));
  EXPECT_TRUE(is_whole(download({broken_first(),
                                 {cut_off(whole_of(body), 20)},
                                 {cut_off(whole_of(body), 70)},
                                 {whole_of(body).text()}})));
}

TEST_F(ProxyResume, E2_download_without_a_strong_validator_is_not_resumed) {
  for (const char* tag : {"", "W/\"v1\"", "v1"}) {
    RangeResponse first = whole_of(body);
    first.entity_tag = tag;
    expect_cut(download({{cut_off(first, got_first)}, {rest_of(body, got_first).text()}}),
               "response_started");
  }
  RangeResponse fresh = whole_of(body);
  fresh.entity_tag = "";
  fresh.fields = "Last-Modified: Sun, 06 Nov 1994 08:48:38 GMT\r\n";
  expect_cut(download({{cut_off(fresh, got_first)}, {rest_of(body, got_first).text()}}), "response_started");
  EXPECT_EQ(heard_.size(), 4U);
}

TEST_F(ProxyResume, E2_last_modified_older_than_a_minute_allows_a_resume) {
  const std::string modified = "Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT\r\n";
  RangeResponse first = whole_of(body);
  RangeResponse second = rest_of(body, got_first);
  first.entity_tag = second.entity_tag = "";
  first.fields = second.fields = modified;
  EXPECT_TRUE(is_whole(download({{cut_off(first, got_first)}, {second.text()}})));
  EXPECT_EQ(field_of(heard_.at(1), "If-Range"), "Sun, 06 Nov 1994 08:48:37 GMT");
}

TEST_F(ProxyResume, E4_response_206_may_omit_the_complete_length) {
  RangeResponse open = rest_of(body, got_first);
  open.content_range = "bytes 40-99/*";
  EXPECT_TRUE(is_whole(download({broken_first(), {open.text()}})));
}

std::string chunks(std::string_view data, bool last = true) {
  std::string out;
  for (; !data.empty(); data.remove_prefix(std::min<std::size_t>(16, data.size()))) {
    const auto one = data.substr(0, 16);
    out += one.size() == 16 ? "10\r\n" : "0" + std::string(1, "0123456789abcdef"[one.size()]) + "\r\n";
    out.append(one).append("\r\n");
  }
  return last ? out + "0\r\n\r\n" : out;
}
std::string chunked(const RangeResponse& response, std::string_view coded) {
  std::string text = cut_off(response, 0);
  const auto length = text.find("Content-Length");
  return text.replace(length, text.find("\r\n", length) - length, "Transfer-Encoding: chunked").append(coded);
}

TEST_F(ProxyResume, E5_short_206_is_continued_and_an_overlong_206_is_cut) {
  const RangeResponse rest = rest_of(body, 40);
  const std::string data = body.substr(40);
  EXPECT_TRUE(is_whole(download({broken_first(), {chunked(rest, chunks(data))}})));
  EXPECT_TRUE(is_whole(
      download({broken_first(), {chunked(rest, chunks(data.substr(0, 20)))}, {rest_of(body, 60).text()}})));
  // The last byte is withheld until the end of the body is confirmed.
  EXPECT_TRUE(
      is_whole(download({broken_first(), {chunked(rest, chunks(data, false))}, {rest_of(body, 99).text()}})));
  const WireResponse longer = download({broken_first(), {chunked(rest, chunks(data + "more"))}});
  expect_cut(longer, "resume_mismatch", longer.body.size());
  EXPECT_LT(longer.body.size(), body.size());
  // Bytes after a body with Content-Length are not read: the response is complete, and the connection is
  // closed.
  EXPECT_TRUE(is_whole(download({broken_first(), {rest.text() + "HTTP/1.1 200 Unasked\r\n\r\n"}})));
}

TEST_F(ProxyResume, E8_download_of_a_client_range_is_resumed_at_absolute_offsets) {
  RangeResponse first = rest_of(body, 20);
  first.content_range = "bytes 20-69/100";
  first.body = body.substr(20, 50);
  RangeResponse second = first;
  second.content_range = "bytes 50-69/100";
  second.body = body.substr(50, 20);
  const WireResponse got =
      download({{cut_off(first, 30)}, {second.text()}}, {}, "Range: bytes=20-69\r\nIf-Match: \"v1\"\r\n");
  EXPECT_EQ(got.status, 206);
  EXPECT_TRUE(got.whole);
  EXPECT_EQ(got.field("Content-Range"), "bytes 20-69/100");
  EXPECT_EQ(got.body, body.substr(20, 50));
  // Row J11: Range appears once, with the proxy's own value, and the client's conditions are removed.
  const std::string head = heard_.at(1);
  EXPECT_EQ(field_of(head, "Range"), "bytes=50-69");
  EXPECT_EQ(head.find("\r\nRange:"), head.rfind("\r\nRange:"));
  EXPECT_EQ(field_of(head, "If-Match"), "");
}

TEST_F(ProxyResume, E8_suffix_or_multiple_or_conditional_ranges_of_a_client_are_not_resumed) {
  for (const char* fields :
       {"Range: bytes=-100\r\n", "Range: bytes=0-9,20-29\r\n", "Range: bytes=0-\r\nIf-Range: \"v1\"\r\n"}) {
    expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, {}, fields), "response_started");
  }
  EXPECT_EQ(heard_.size(), 3U);
}

TEST_F(ProxyResume, E9_resume_is_tried_again_after_a_retryable_status) {
  EXPECT_TRUE(is_whole(download({broken_first(),
                                 {play::response(503, "later", "X-Only: 503\r\n")},
                                 {play::response(429, "later")},
                                 {rest_of(body, got_first).text()}})));
}

TEST_F(ProxyResume, E10_chunked_response_is_resumed_if_the_206_gives_the_complete_length) {
  const std::string first = chunked(whole_of(body), chunks(body.substr(0, 48), false));
  const WireResponse got = download({{first}, {rest_of(body, 48).text()}});
  EXPECT_TRUE(got.chunked);
  EXPECT_TRUE(is_whole(got));
  RangeResponse open = rest_of(body, 48);
  open.content_range = "bytes 48-99/*";
  expect_cut(download({{first}, {open.text()}}), "resume_mismatch", 48);
  expect_cut(download({{first}, {whole_of(body).text()}}), "resume_mismatch", 48);
}

TEST_F(ProxyResume, E10_response_is_not_resumed_if_close_delimited_or_malformed_or_its_request_has_a_body) {
  Heard heard;
  for (const std::string& first : {chunked(whole_of(body), "5\r\nabcdeX"),
                                   std::string("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\r\nabcde")}) {
    ScriptedUpstream upstream(turns(heard, {{first, Turn::How::rst}, {rest_of(body, 5).text()}}));
    RunningProxy proxy;
    RawClient client = proxy.client();
    EXPECT_FALSE(client.ask(play::get(upstream.authority())).whole);
    EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
    EXPECT_EQ(upstream.connections(), 1U);
  }
  ScriptedUpstream upstream(turns(heard, {broken_first()}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_FALSE(client.ask(play::with_body("POST", upstream.authority(), "x")).whole);
  RawClient with_body = proxy.client();
  EXPECT_FALSE(with_body.ask(play::with_body("GET", upstream.authority(), "x")).whole);
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST_F(ProxyResume, E11_download_is_not_resumed_if_its_signature_has_expired_or_covers_the_range_field) {
  const std::string url =
      "/o?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20200101T000000Z&X-Amz-Expires=60&"
      "X-Amz-SignedHeaders=host&X-Amz-Signature=ab";
  expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, {}, "", url), "signature_expired");
  expect_cut(
      download({broken_first(), {rest_of(body, got_first).text()}}, {},
               "Authorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;range, Signature=b\r\n"),
      "response_started");
  EXPECT_EQ(heard_.size(), 2U);
}

TEST_F(ProxyResume, version_field_listed_as_a_validator_replaces_the_etag_and_the_target_stays_the_same) {
  RangeResponse first = whole_of(body);
  RangeResponse second = rest_of(body, got_first);
  first.entity_tag = second.entity_tag = "";
  for (const char* field : {"x-goog-generation: 17\r\n", "X-Amz-Version-Id: aB\r\n"}) {
    first.fields = second.fields = field;
    const std::string path = "/o?alt=media&Signature=b";
    EXPECT_TRUE(is_whole(download({{cut_off(first, got_first)}, {second.text()}}, {}, "", path))) << field;
    const std::string asked = heard_.at(heard_.size() - 1);
    EXPECT_TRUE(asked.starts_with("GET " + path + " HTTP/1.1\r\n")) << asked;
    EXPECT_EQ(field_of(asked, "Range"), "bytes=40-");
    EXPECT_EQ(asked.find("If-Range"), std::string::npos);
    EXPECT_TRUE(is_whole(download({{cut_off(first, got_first)}, {first.text()}}))) << "the prefix is skipped";
  }
  second.fields = "X-Amz-Version-Id: ab\r\n";
  expect_cut(download({{cut_off(first, got_first)}, {second.text()}}), "resume_mismatch");
  Wishes wishes;
  wishes.route.resume.validators = {"x-goog-generation"};
  expect_cut(download({{cut_off(first, got_first)}, {first.text()}}, wishes), "response_started");
  expect_cut(download({broken_first(), {rest_of(body, got_first).text()}}, wishes), "response_started");
}

TEST_F(ProxyResume, content_range_in_a_200_is_ignored) {
  RangeResponse first = whole_of(body);
  first.content_range = "bytes 40-99/100";
  EXPECT_TRUE(is_whole(download({{cut_off(first, got_first)}, {rest_of(body, got_first).text()}})));
  EXPECT_TRUE(is_whole(download({broken_first(), {first.text()}})));
}

TEST_F(ProxyResume, incomplete_200_response_of_unknown_length_leads_to_another_range_request) {
  RangeResponse first = whole_of(body);
  RangeResponse second = rest_of(body, got_first);
  first.entity_tag = second.entity_tag = "";
  first.fields = second.fields = "x-goog-generation: 17\r\n";
  const std::string endless = chunked(first, chunks(body.substr(got_first, 8), false));
  EXPECT_TRUE(is_whole(download({{cut_off(first, got_first)}, {endless}, {second.text()}})));
  EXPECT_EQ(heard_.size(), 3U);
  Wishes wishes;
  wishes.route.resume.max_attempts = 2;
  expect_cut(download({{cut_off(first, got_first)}, {endless}}, wishes), "attempts_spent");
}

TEST_F(ProxyResume, E12_fields_and_interim_responses_of_the_206_do_not_reach_the_client) {
  RangeResponse second = rest_of(body, got_first);
  second.fields = "X-Only: 206\r\nSet-Cookie: a=b\r\n";
  const WireResponse got = download({broken_first(), {"HTTP/1.1 103 Early Hints\r\n\r\n" + second.text()}});
  EXPECT_TRUE(is_whole(got));
  EXPECT_FALSE(got.has("X-Only"));
  EXPECT_FALSE(got.has("Set-Cookie"));
  EXPECT_EQ(got.field("Content-Length"), "100");
  EXPECT_EQ(client_->socket().received(), "");
}

TEST_F(ProxyResume, http_1_0_client_gets_the_resumed_rest_without_chunks) {
  const std::string first = chunked(whole_of(body), chunks(body.substr(0, 48), false));
  upstream_.emplace(turns(heard_, {{first}, {rest_of(body, 48).text()}}));
  proxy_.emplace();
  client_.emplace(proxy_->port());
  EXPECT_TRUE(is_whole(client_->ask("GET http://" + upstream_->authority() + "/ HTTP/1.0\r\n\r\n")));
}

TEST_F(ProxyResume, D14_half_closed_client_gets_no_resume) {
  std::atomic<bool> finished{false};
  upstream_.emplace([&](Peer& peer) {
    heard_.add(peer.read_request());
    play::eventually([&] { return finished.load(); });
    peer.send(broken_first().bytes);
  });
  proxy_.emplace();
  client_.emplace(proxy_->port());
  client_->send(play::get(upstream_->authority()));
  ASSERT_TRUE(play::eventually([&] { return heard_.size() == 1; }));
  client_->socket().finish_sending();
  finished = true;
  expect_cut(client_->read_response(), "client_gone");
}

TEST_F(ProxyResume, D15_shutdown_ends_the_wait_for_a_resume) {
  Wishes wishes;
  wishes.route.retry.backoff.initial = std::chrono::minutes(10);
  wishes.route.retry.backoff.maximum = std::chrono::minutes(10);
  upstream_.emplace(turns(heard_, {broken_first()}));
  proxy_.emplace(std::move(wishes));
  client_.emplace(proxy_->port());
  client_->send(play::get(upstream_->authority()));
  ASSERT_TRUE(play::eventually([&] { return heard_.size() == 1 && upstream_->running() == 0; }));
  ASSERT_TRUE(client_->socket().read_until(body.substr(0, got_first)));
  proxy_->stop();
  EXPECT_EQ(client_->socket().read_to_end(), Wire::fin);
}

/// A response to a resume request that is not the missing part.
struct Lie {
  std::string name;
  RangeResponse response;
};
void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

RangeResponse lying(std::string range, std::size_t first, std::size_t last) {
  RangeResponse response = rest_of(body, first);
  response.content_range = std::move(range);
  response.body = (body + body).substr(first, last - first + 1);
  return response;
}
template <typename Change>
RangeResponse with(RangeResponse response, Change change) {
  change(response);
  return response;
}

std::vector<Lie> lies() {
  const RangeResponse rest = rest_of(body, got_first);
  const RangeResponse whole = whole_of(body);
  std::vector<Lie> all{
      {"E1_another_representation", with(whole, [](auto& a) { a.entity_tag = "\"v2\""; })},
      {"E1_no_tag", with(whole, [](auto& a) { a.entity_tag = ""; })},
      {"E3_another_start", lying("bytes 39-99/100", 39, 99)},
      {"E3_a_later_start", lying("bytes 41-99/100", 41, 99)},
      {"E3_an_early_end", lying("bytes 40-89/100", 40, 89)},
      {"E3_another_total", lying("bytes 40-99/101", 40, 99)},
      {"E3_more_than_there_was", lying("bytes 40-100/101", 40, 100)},
      {"E3_another_unit", lying("octets 40-99/100", 40, 99)},
      {"E3_last_before_first", lying("bytes 40-39/100", 40, 99)},
      {"E3_total_not_above_last", lying("bytes 40-99/99", 40, 99)},
      {"E3_no_content_range", lying("", 40, 99)},
      {"E3_numbers_that_overflow", lying("bytes 18446744073709551656-18446744073709551715/*", 40, 99)},
      {"E3_two_content_ranges", with(rest, [](auto& a) { a.fields = "Content-Range: bytes 40-99/100\r\n"; })},
      {"E4_the_wrong_start_of_an_open_one", lying("bytes 41-99/*", 41, 99)},
      {"E5_a_length_above_its_range", with(rest, [](auto& a) { a.body += "x"; })},
      {"E5_a_length_below_its_range", with(rest, [](auto& a) { a.body.pop_back(); })},
      {"E6_multipart", with(rest,
                            [](auto& a) {
                              a.content_range = "";
                              a.content_type = "multipart/byteranges; boundary=x";
                            })},
      {"E7_another_tag", with(rest, [](auto& a) { a.entity_tag = "\"v2\""; })},
      {"E7_a_weak_tag", with(rest, [](auto& a) { a.entity_tag = "W/\"v1\""; })},
      {"E7_no_tag", with(rest, [](auto& a) { a.entity_tag = ""; })},
      {"E7_a_coding", with(rest, [](auto& a) { a.fields = "Content-Encoding: gzip\r\n"; })},
      {"E7_another_type", with(rest, [](auto& a) { a.content_type = "text/html"; })},
  };
  for (const int status : {204, 301, 401, 403, 404, 412, 416}) {
    all.push_back({"E9_status_" + std::to_string(status), with(rest, [&](auto& a) {
                     a.status = status;
                     a.content_range = "";
                   })});
  }
  return all;
}

class ProxyResumeLie : public ProxyResume, public ::testing::WithParamInterface<Lie> {};

TEST_P(ProxyResumeLie, download_is_cut_if_the_response_to_its_resume_does_not_match) {
  expect_cut(download({broken_first(), {GetParam().response.text()}}), "resume_mismatch");
  EXPECT_EQ(heard_.size(), 2U);
  EXPECT_TRUE(play::eventually(
      [&] { return proxy_->metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1; }));
}

INSTANTIATE_TEST_SUITE_P(Rows, ProxyResumeLie, ::testing::ValuesIn(lies()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace reprise::server::resume_test
