#include "proxy/telemetry/history/request_history.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "proxy/telemetry/history/entry_json.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace {

using policy::Reason;

void keep(ThreadHistory& book, ScriptedRequest& scripted, std::int64_t wall) {
  ExchangeRecord record = scripted.record();
  record.number = book.next_number();
  record.ended_wall = wall;
  book.keep(record, true);
}

ScriptedRequest plain(const std::string& path) {
  ScriptedRequest request("plain", "GET", path);
  request.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200);
  return request;
}

ScriptedRequest refused(const std::string& path) {
  ScriptedRequest request("refused", "POST", path);
  request.attempt(status(503), 1, stop(Reason::not_idempotent)).ends(Ending::complete, 503);
  return request;
}

TEST(RequestHistory, ids_are_unique_per_process_and_find_requests_of_any_thread) {
  RequestHistory stories("k3x9q2", 3, 64 * 1024);
  std::vector<std::string> ids;
  for (std::size_t thread = 0; thread < 3; ++thread) {
    for (int i = 0; i < 20; ++i) {
      ScriptedRequest request = plain("/" + std::to_string(thread) + "/" + std::to_string(i));
      ExchangeRecord record = request.record();
      record.number = stories.book(thread).next_number();
      stories.book(thread).keep(record, true);
      ids.push_back(stories.id_of(record.number));
      const auto found = stories.find(ids.back());
      ASSERT_TRUE(found);
      EXPECT_EQ(found->path, record.path);
      EXPECT_EQ(found->id, ids.back());
    }
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(RequestHistory, malformed_or_unknown_ids_find_nothing) {
  RequestHistory stories("k3x9q2", 2, 64 * 1024);
  ScriptedRequest request = plain("/a");
  keep(stories.book(0), request, 1);
  EXPECT_TRUE(stories.find("k3x9q2-1"));
  for (const char* id : {"", "-", "k3x9q2", "k3x9q2-", "k3x9q2-0", "k3x9q2-2", "k3x9q2-1!", "other1-1",
                         "k3x9q2-zzzzzzzzzzzzzzzz"})
    EXPECT_FALSE(stories.find(id)) << id;
}

TEST(RequestHistory, client_request_id_finds_its_newest_request_of_all_threads) {
  RequestHistory stories("k3x9q2", 2, 64 * 1024);
  ScriptedRequest early = plain("/early");
  ScriptedRequest late = refused("/late");
  early.ids("mine", "");
  late.ids("mine", "");
  keep(stories.book(1), late, 20);
  keep(stories.book(0), early, 10);
  EXPECT_EQ(stories.find("mine")->path, "/late");
  // If both requests with the id ran on the same thread, the newest one is found too, even if it succeeded at
  // the first attempt.
  keep(stories.book(1), early, 30);
  EXPECT_EQ(stories.find("mine")->path, "/early");
}

TEST(RequestHistory, ordinary_requests_do_not_evict_notable_ones) {
  RequestHistory stories("k3x9q2", 1, 16 * 1024);
  ScriptedRequest matters = refused("/matters");
  keep(stories.book(0), matters, 1);
  ScriptedRequest ordinary = plain("/ordinary");
  for (int i = 0; i < 10'000; ++i) keep(stories.book(0), ordinary, 2);
  EXPECT_TRUE(stories.find("k3x9q2-1"));
  EXPECT_FALSE(stories.find("k3x9q2-2"));
  const auto newest = stories.newest(10);
  ASSERT_EQ(newest.size(), 1U);
  EXPECT_EQ(newest[0].path, "/matters");
  EXPECT_EQ(newest[0].id, "k3x9q2-1");
}

TEST(RequestHistory, newest_requests_of_all_threads_are_listed_in_order_of_completion) {
  RequestHistory stories("k3x9q2", 2, 64 * 1024);
  for (int i = 0; i < 6; ++i) {
    ScriptedRequest request = refused("/" + std::to_string(i));
    keep(stories.book(static_cast<std::size_t>(i % 2)), request, i);
  }
  const auto newest = stories.newest(3);
  ASSERT_EQ(newest.size(), 3U);
  EXPECT_EQ(newest[0].path, "/3");
  EXPECT_EQ(newest[2].path, "/5");
}

TEST(RequestHistory, history_can_be_read_during_writes) {
  RequestHistory stories("k3x9q2", 1, 8 * 1024);
  std::thread writer([&] {
    ScriptedRequest request = refused("/x");
    for (int i = 0; i < 20'000; ++i) keep(stories.book(0), request, i);
  });
  std::size_t seen = 0;
  for (int i = 0; i < 300; ++i) {
    for (const HistoryEntry& story : stories.newest(100)) {
      ASSERT_EQ(story.path, "/x");
      ++seen;
    }
  }
  writer.join();
  EXPECT_EQ(stories.newest(1).size(), 1U);
  EXPECT_EQ(stories.newest(1)[0].ended_wall, 19'999);
}

TEST(WorthTelling, failed_retried_and_abandoned_requests_are_notable) {
  EXPECT_FALSE(is_notable(plain("/a").record()));
  EXPECT_TRUE(is_notable(refused("/a").record()));
  ScriptedRequest call = plain("/shop.v1.Orders/Get");
  EXPECT_FALSE(is_notable(call.call(policy::GrpcStatus::ok).record()));
  EXPECT_TRUE(is_notable(call.call(policy::GrpcStatus::internal).record()));
  ScriptedRequest gone = plain("/a");
  gone.ends(Ending::client_gone, 0);
  EXPECT_TRUE(is_notable(gone.record()));
  ScriptedRequest twice("twice", "GET", "/a");
  twice.attempt(status(503), 1, retry_in(milliseconds(1), Reason::retryable_status));
  twice.attempt(status(200), 1, stop(Reason::success)).ends(Ending::complete, 200);
  EXPECT_TRUE(is_notable(twice.record()));
}

TEST(AddressText, address_text_is_host_and_port_with_brackets_for_ipv6) {
  policy::UpstreamAddress address;
  EXPECT_EQ(text_of(address), "");
  address.family = policy::UpstreamAddress::Family::v4;
  address.port = 443;
  address.bytes = {192, 0, 2, 7};
  EXPECT_EQ(text_of(address), "192.0.2.7:443");
  address.family = policy::UpstreamAddress::Family::v6;
  address.bytes = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(text_of(address), "[2001:db8::1]:443");
}

TEST(StoryJson, M107_attempts_over_http2_are_marked) {
  HistoryRing ring(64 * 1024);
  ScriptedRequest request("http2", "POST", "/x");
  request.attempt(stream_reset("cancel"), 5, retry_in(milliseconds(2), Reason::retryable_failure))
      .over_http2(milliseconds(30));
  request.attempt(status(200), 5, stop(Reason::success)).ends(Ending::complete, 200);
  ExchangeRecord record = request.record();
  record.number = 7;
  ring.keep(record, true);
  const json::object story = story_json(*ring.find(std::uint64_t{7}), "");
  const json::array& attempts = story.at("attempts").as_array();
  EXPECT_EQ(attempts[0].at("http"), "2");
  EXPECT_EQ(attempts[0].at("reset_code"), "cancel");
  EXPECT_EQ(attempts[0].at("queued_ms").as_double(), 30);
  for (const char* name : {"http", "reset_code", "queued_ms"})
    EXPECT_FALSE(attempts[1].as_object().contains(name)) << name;
}

TEST(StoryJson, M113_entry_of_a_call_has_service_method_and_statuses) {
  const auto story_of = [](const ScriptedRequest& request, bool path) {
    HistoryRing ring(64 * 1024);
    ExchangeRecord record = request.record();
    record.number = 7;
    ring.keep(record, path);
    return story_json(*ring.find(std::uint64_t{7}), "");
  };
  ScriptedRequest request("call", "POST", "/shop.v1.Orders/Get");
  request.attempt(call_status(policy::GrpcStatus::unavailable), 5, stop(Reason::not_idempotent));
  request.ends(Ending::complete, 200).call(policy::GrpcStatus::unavailable);
  const json::object story = story_of(request, true);
  EXPECT_EQ(story.at("path"), "/shop.v1.Orders/Get");
  EXPECT_EQ(story.at("grpc"),
            (json::object{{"service", "shop.v1.Orders"}, {"method", "Get"}, {"status", "unavailable"}}));
  EXPECT_EQ(story.at("attempts").at(0).at("grpc"), "unavailable");
  EXPECT_EQ(story_of(request, false).at("grpc"), (json::object{{"status", "unavailable"}}));
  EXPECT_FALSE(story_of(plain("/a"), true).contains("grpc"));
}

TEST(StoryJson, history_is_valid_json_for_hostile_client_input) {
  HistoryRing ring(64 * 1024);
  ScriptedRequest nasty("nasty", "G\x1b[31mT", "/\"\\\x01\xff</script>");
  nasty.attempt(failure(policy::Stage::connect, policy::Cause::refused), 1,
                retry_in(milliseconds(200), Reason::retryable_failure));
  nasty.attempt(status(429, std::chrono::seconds(2)), 5, stop(Reason::upstream_said_later), true);
  nasty.ends(Ending::cut, 0).ids("\"id\"", "").tunnel().own_response().ambiguous();
  ExchangeRecord record = nasty.record();
  record.number = 7;
  ring.keep(record, true);
  HistoryEntry story = *ring.find(std::uint64_t{7});
  story.id = "k3x9q2-7";
  story.route_name = "api";
  const json::object parsed = json::parse(document_text(story_json(story, "Raise \"it\"."))).as_object();
  EXPECT_EQ(parsed.at("id"), "k3x9q2-7");
  EXPECT_EQ(parsed.at("route"), "api");
  EXPECT_TRUE(parsed.at("status").is_null());
  EXPECT_EQ(parsed.at("ending"), "cut");
  EXPECT_EQ(parsed.at("reason"), "upstream_said_later");
  EXPECT_EQ(parsed.at("advice"), "Raise \"it\".");
  EXPECT_EQ(parsed.at("time"), "2026-01-02T10:03:12.345Z");
  const auto& attempts = parsed.at("attempts").as_array();
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].at("error"), "refused");
  EXPECT_EQ(attempts[0].at("delay_ms").to_number<double>(), 200);
  EXPECT_EQ(attempts[1].at("retry_after_ms").to_number<double>(), 2000);
  EXPECT_EQ(attempts[1].at("wait_ms").to_number<double>(), 200);
  EXPECT_EQ(attempts[1].as_object().contains("budget_left"), false);
}

}  // namespace
}  // namespace reprise::telemetry
