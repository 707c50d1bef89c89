// Tests /stories and the history of one request on the admin listener of a running proxy.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

std::string query_for(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

/// A proxy that has served one retried request, whose X-Request-Id is `order 7%z%`.
class Told {
 public:
  Told() : upstream_(play::responses({response(503, "no"), response(200, "x")})), proxy_(keeping()) {
    const std::string request = play::get(upstream_.authority(), "/v1/x", "X-Request-Id: order 7%z%\r\n");
    EXPECT_EQ(proxy_.client().ask(request).body, "x");
    EXPECT_TRUE(play::eventually([&] { return all().body != "[]\n"; }));
  }
  WireResponse ask(std::string_view path) const {
    return RawClient(proxy_.admin_port()).ask(query_for(path));
  }
  WireResponse all() const { return ask("/stories"); }
  std::string id() const {
    constexpr std::string_view key = "\"id\":\"";
    const std::string list = all().body;
    const std::size_t begin = list.find(key) + key.size();
    return list.substr(begin, list.find('"', begin) - begin);
  }

 private:
  static Wishes keeping() {
    Wishes wishes;
    wishes.settings.limits.history_bytes = 1 << 20;
    return wishes;
  }

  ScriptedUpstream upstream_;
  RunningProxy proxy_;
};

TEST(AdminStories, history_list_is_json_and_contains_each_request_id) {
  const Told told;
  const WireResponse list = told.all();
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.field("Content-Type"), "application/json");
  EXPECT_NE(list.body.find("\"recovered\":true"), std::string::npos) << list.body;
  EXPECT_NE(list.body.find("\"request_id\":\"order 7%z%\""), std::string::npos) << list.body;
}

TEST(AdminStories, history_of_one_request_is_available_as_json_or_text) {
  const Told told;
  const std::string path = "/stories/" + told.id();
  const WireResponse json = told.ask(path);
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.field("Content-Type"), "application/json");
  EXPECT_TRUE(json.body.starts_with("{\"id\":\"" + told.id() + "\""));
  const WireResponse text = told.ask(path + "?format=text");
  EXPECT_EQ(text.status, 200);
  EXPECT_TRUE(text.field("Content-Type").starts_with("text/plain"));
  EXPECT_NE(text.body.find("503 after "), std::string::npos) << text.body;
  EXPECT_NE(text.body.find("; recovered\n"), std::string::npos) << text.body;
}

// The request id in the path is percent-decoded. A `%` that does not begin an escape is taken literally.
TEST(AdminStories, history_is_found_by_the_request_id_of_the_client) {
  const Told told;
  for (const char* path : {"/stories/order%207%z%", "/stories/order%207%25z%25", "/stories/%6frder%207%z%"})
    EXPECT_EQ(told.ask(path).status, 200) << path;
  EXPECT_EQ(told.ask("/stories/order+7%z%").status, 404);
  EXPECT_EQ(told.ask("/stories/order%207%z").status, 404);
}

TEST(AdminStories, response_to_an_unknown_request_id_names_the_limit_that_may_have_evicted_its_history) {
  const Told told;
  const WireResponse gone = told.ask("/stories/" + told.id() + "zz");
  EXPECT_EQ(gone.status, 404);
  EXPECT_NE(gone.body.find("limits.stories"), std::string::npos);
  for (const char* path : {"/stories/", "/storiesx", "/storiesxy"}) {
    const WireResponse nothing = told.ask(path);
    EXPECT_EQ(nothing.status, 404) << path;
    EXPECT_EQ(nothing.body, "not found: the history of a request is at /stories/ID\n") << path;
  }
}

TEST(AdminStories, history_list_is_empty_when_history_is_disabled) {
  Wishes wishes;
  wishes.settings.limits.history_bytes = 0;
  const RunningProxy proxy(std::move(wishes));
  EXPECT_EQ(RawClient(proxy.admin_port()).ask(query_for("/stories")).body, "[]\n");
  EXPECT_EQ(RawClient(proxy.admin_port()).ask(query_for("/stories/1")).status, 404);
}

}  // namespace
}  // namespace reprise::server
