// Sample documents of an admin listener, taken ten seconds apart, for tests of whole screens.
#pragma once

#include <gtest/gtest.h>
#include <wchar.h>

#include <clocale>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "proxy/tools/top/draw.hpp"
#include "proxy/tools/top/reading.hpp"

namespace reprise::tools {

/// Returns the charset of a terminal under Debian's C.UTF-8.
inline Charset utf8() {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  return {true, [](char32_t code) { return wcwidth(static_cast<wchar_t>(code)); }};
}

inline const char* const bounds = "[0.001,0.0025,0.005,0.01,0.025,0.05,0.1,0.25,0.5,1,2.5,5,15,60,300]";

inline std::string route_json(const std::string& name, const std::string& counts) {
  return R"({"name":")" + name + R"(","line":3,"mode":"active","max_attempts":6,)" + counts + "}";
}

/// Returns a status document with those routes. `more` adds members and begins with a comma.
inline std::string status_json(int uptime, int requests, const std::string& routes,
                               const std::string& more = "") {
  return R"({"version":"0.1.0","started":1767348000,"uptime_seconds":)" + std::to_string(uptime) +
         R"(,"ready":true,"draining":false,"config":{"file":"/etc/reprise/reprise.yaml","hash":"5f3a9c01"},)"
         R"("threads":1,"listeners":["forward 127.0.0.1:3128","admin 127.0.0.1:3129"],"duration_bounds":)" +
         bounds + R"(,"routes":[)" + routes + R"(],"totals":{"requests":)" + std::to_string(requests) +
         R"(,"rejected":2,"tunnels":9,"client_connections":12,"upstream_connections":{"active":3,"idle":8}},)"
         R"("unread":[{"name":"api.test:443","tunnels":7,"intercept":"api.test"},)"
         R"({"name":"10.0.0.1:443","tunnels":1,"intercept":null}])" +
         more + "}";
}

inline std::string before_json() {
  return status_json(
      93780, 10000,
      route_json(
          "payments",
          R"("requests":4000,"retries":80,"recovered":60,"exhausted":5,"refused":{"not_idempotent":14},)"
          R"("responses":{"2xx":3900,"5xx":100},"durations":[0,0,0,1000,2000,900,50,30,20,0,0,0,0,0,0,0])") +
          "," +
          route_json("日本語の検索",
                     R"("requests":900,"retries":0,"recovered":0,"exhausted":0,"refused":{},)"
                     R"("responses":{"2xx":900},"durations":[0,0,900,0,0,0,0,0,0,0,0,0,0,0,0,0])") +
          "," +
          route_json("default",
                     R"("requests":5100,"retries":3,"recovered":3,"exhausted":0,"refused":{},)"
                     R"("responses":{"2xx":5100},"durations":[5100,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0])"));
}

inline std::string after_json(
    const std::string& more = R"(,"reload":{"outcome":"success","time":1767441600,"errors":[]})") {
  return status_json(
      93790, 10520,
      route_json("payments",
                 R"("requests":4400,"retries":130,"recovered":95,"exhausted":9,)"
                 R"("refused":{"not_idempotent":21,"budget_spent":4},"responses":{"2xx":4270,"5xx":130},)"
                 R"("durations":[0,0,0,1100,2200,960,60,35,25,0,10,5,5,0,0,0])") +
          "," +
          route_json("日本語の検索",
                     R"("requests":1000,"retries":0,"recovered":0,"exhausted":0,"refused":{},)"
                     R"("responses":{"2xx":1000},"durations":[0,0,1000,0,0,0,0,0,0,0,0,0,0,0,0,0])") +
          "," +
          route_json("default",
                     R"("requests":5120,"retries":3,"recovered":3,"exhausted":0,"refused":{},)"
                     R"("responses":{"2xx":5120},"durations":[5120,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0])"),
      more);
}

inline const char* const troubled =
    R"(,"upstreams":[{"name":"api.example.com:443","attempts":{"2xx":400,"5xx":130},"budget_left":0.42,)"
    R"("circuit":"open","pause_seconds":12.5},{"name":"search.example.com:443","attempts":{"2xx":1000},)"
    R"("circuit":"closed"}],"reload":{"outcome":"failed","time":1767441770,"errors":)"
    R"(["reprise.yaml:7:3: error: retry.max_attempt: no such key; max_attempts is meant","second"]})";

inline const char* const stories_json = R"([
{"id":"1-2f","time":"2026-01-03T12:03:04.125Z","route":"payments","client":"127.0.0.1:51180","method":"POST",
 "host":"api.example.com","port":443,"path":"/v1/charges","tls":true,"status":503,"ending":"complete",
 "reason":"not_idempotent","ms":412,"request_bytes":120,"response_bytes":18,
 "meaning":"the request may have had an effect, and nothing says that it may be repeated",
 "advice":"Send an Idempotency-Key, or write a rule.","attempts":[
 {"n":1,"address":"192.0.2.7:443","status":503,"at_ms":1.5,"ms":410,"wait_ms":0,"reused":true,"may_have_sent":true,
  "sent_bytes":420,"reason":"not_idempotent","retry":false,"budget_left":96}]},
{"id":"1-2e","time":"2026-01-03T12:03:01.001Z","route":"payments","client":"127.0.0.1:51180","method":"GET",
 "host":"api.example.com","port":443,"path":"/v1/charges/7","tls":true,"status":200,"ending":"complete","idempotent":true,
 "recovered":true,"reason":"success","ms":1200,"request_bytes":0,"response_bytes":2048,"meaning":"a response was delivered",
 "attempts":[
 {"n":1,"address":"192.0.2.7:443","stage":"connect","error":"refused","at_ms":0,"ms":200,"wait_ms":0,"reused":false,
  "sent_bytes":0,"reason":"retryable_failure","retry":true,"delay_ms":200,"delay_lowest_ms":125,"delay_highest_ms":250,"budget_left":97},
 {"n":2,"address":"192.0.2.8:443","status":503,"at_ms":400,"ms":200,"wait_ms":200,"reused":false,
  "sent_bytes":380,"reason":"retryable_status","retry":true,"delay_ms":300,"delay_lowest_ms":250,"delay_highest_ms":500,"budget_left":96},
 {"n":3,"address":"192.0.2.8:443","status":200,"at_ms":900,"ms":300,"wait_ms":300,"reused":true,
  "sent_bytes":380,"reason":"success","retry":false}]},
{"id":"1-2d","time":"2026-01-03T12:03:00.000Z","route":"default","method":"GET","host":"search.example.com","port":80,
 "path":"/","status":200,"ending":"complete","idempotent":true,"reason":"success","ms":3,"meaning":"a response was delivered",
 "attempts":[{"n":1,"status":200,"at_ms":0,"ms":3,"reason":"success","retry":false}]}
])";

/// Returns a Watch that has seen both status documents, at clock times 1000 and 1010.
inline Watch seen(const std::string& after, const Charset& charset, const char* stories = stories_json) {
  Watch watch(10);
  watch.took(*read_status(before_json(), &charset).value, 1000);
  watch.took(*read_status(after, &charset).value, 1010);
  watch.took(*read_requests(stories, &charset).value);
  return watch;
}

inline Display look_of(std::size_t columns, std::size_t rows, const Charset& charset) {
  Display display;
  display.columns = columns;
  display.rows = rows;
  display.charset = charset;
  display.where = "127.0.0.1:3129";
  display.interval = "1s";
  display.now = 1010;
  return display;
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(REPRISE_SOURCE_DIR) + "/tests/golden/top/" + name;
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  ASSERT_FALSE(golden.str().empty()) << path << " is missing; UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(golden.str(), text) << "if this is meant: UPDATE_GOLDEN=1";
}

}  // namespace reprise::tools
