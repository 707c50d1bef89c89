// Tests the values of `trace.otlp`: which are accepted, which are rejected, and which cause a warning.
#include "config/keys/collector.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"

namespace reprise::config {
namespace {

std::string problems_with(const std::string& otlp, const std::string& more = {}) {
  const Loaded loaded = load_text("version: 1\n" + more + "trace: {otlp: \"" + otlp + "\"}\n", {});
  std::string text;
  for (const Problem& problem : loaded.problems) text.append(to_line(problem, "f.yaml")).append("\n");
  return text;
}

TEST(CollectorText, collector_url_has_a_host_and_a_port_and_a_path) {
  for (const char* text : {"http://127.0.0.1:4318/v1/traces", "http://[::1]:4318/v1/traces",
                           "http://collector.internal:55681/otlp/v1/traces?"}) {
    const auto parsed = parse_collector(text);
    const bool plain = std::string_view(text).find('?') == std::string_view::npos;
    ASSERT_EQ(static_cast<bool>(parsed), plain) << text;
    if (!plain) continue;
    EXPECT_EQ(collector_text(*parsed.value), text);
  }
  EXPECT_EQ(collector_text(*parse_collector("HTTP://Collector:1").value), "http://collector:1/v1/traces");
  EXPECT_EQ(collector_text(*parse_collector("http://c:1/").value), "http://c:1/v1/traces");
  EXPECT_EQ(collector_text(*parse_collector("http://c:1/x/").value), "http://c:1/x/");
  EXPECT_EQ(collector_text(*parse_collector("https://C.test/x").value), "https://c.test:443/x");
  EXPECT_TRUE(parse_collector("https://c.test").value->tls);
}

TEST(CollectorText, invalid_collector_url_error_suggests_a_valid_one) {
  EXPECT_NE(problems_with("collector:4318").find("did you mean http://collector:4318?"), std::string::npos);
  EXPECT_NE(problems_with("http://collector/x").find("did you mean http://collector:4318/x?"),
            std::string::npos);
  EXPECT_NE(problems_with("http://collector:0").find("1 to 65535"), std::string::npos);
  EXPECT_NE(problems_with("http://co llector:1").find("is not a collector URL"), std::string::npos);
  EXPECT_NE(problems_with("collector").find("is not a collector URL"), std::string::npos);
  EXPECT_NE(problems_with("grpc://collector:4317").find("is not a collector URL"), std::string::npos);
  EXPECT_NE(problems_with("http://c:1/" + std::string(1024, 'x')).find("more than 1024 bytes"),
            std::string::npos);
  const std::string secret = problems_with("http://user:secret@collector:4318");
  EXPECT_NE(secret.find("has a user name"), std::string::npos);
  EXPECT_EQ(secret.find("secret@"), std::string::npos) << secret;
}

TEST(CollectorText, collector_on_a_listener_of_this_proxy_is_rejected) {
  const std::string own = "listeners: [{mode: forward, bind: \"0.0.0.0:4318\", allow_remote: true}]\n";
  EXPECT_NE(problems_with("http://127.0.0.1:4318", own).find("is a listener of this proxy"),
            std::string::npos);
  EXPECT_NE(problems_with("http://127.0.0.1:3129").find("is a listener of this proxy"), std::string::npos)
      << "the admin listener";
  EXPECT_NE(problems_with("http://LOCALHOST:3128").find("is a listener of this proxy"), std::string::npos);
  EXPECT_EQ(problems_with("http://127.0.0.1:4318"), "");
  EXPECT_EQ(problems_with("http://127.0.0.2:3128"), "");
}

TEST(CollectorText, grpc_port_4317_causes_a_warning) {
  const std::string warned = problems_with("http://127.0.0.1:4317");
  EXPECT_NE(warned.find("warning: trace.otlp: has port 4317"), std::string::npos) << warned;
}

TEST(CollectorText, the_word_none_disables_the_collector) {
  EXPECT_EQ(problems_with("none"), "");
  EXPECT_FALSE(load_text("version: 1\ntrace: {otlp: none, sample: 5%}\n", {}).settings->trace.otlp);
}

}  // namespace
}  // namespace reprise::config
