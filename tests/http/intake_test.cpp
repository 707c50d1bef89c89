// Tests how request heads that arrive at a listener become upstream requests.
#include "proxy/http/message/intake.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

const PortRanges ports{{443, 443}, {8000, 8999}};

Rejection forward_refusal(const string& text) {
  const ReadRequest read(text);
  EXPECT_EQ(read.parsed, complete) << text;
  const Intake intake = take_forward(read.head, ports);
  const Rejected* const rejected = std::get_if<Rejected>(&intake);
  EXPECT_NE(rejected, nullptr) << text;
  return rejected == nullptr ? Rejection::loop : rejected->cause;
}

string request_to(const string& target, const string& host, const string& lines = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + lines + "\r\n";
}

TEST(Intake, absolute_form_request_is_forwarded) {
  const ReadRequest read(request_to("http://h:8080/a?b", "h:8080"));
  const auto forward = std::get<Forward>(take_forward(read.head, ports));
  EXPECT_EQ(forward.host, "h");
  EXPECT_EQ(forward.port, 8080);
  EXPECT_EQ(forward.host_field, "");
  EXPECT_EQ(forward.target.path_and_query, "/a?b");
}

TEST(Intake, absolute_form_target_overrides_a_different_host_field) {
  const auto host_field = [](const string& text) {
    const ReadRequest read(text);
    return string(std::get<Forward>(take_forward(read.head, ports)).host_field);
  };
  EXPECT_EQ(host_field(request_to("http://h/", "i")), "h");
  EXPECT_EQ(host_field(request_to("http://h:8080/", "h")), "h:8080");
  EXPECT_EQ(host_field("GET http://h/ HTTP/1.0\r\n\r\n"), "h");
  // A Host that spells the same origin differently is not rewritten, because the client may have signed it.
  EXPECT_EQ(host_field(request_to("http://h:80/", "H")), "");
  EXPECT_EQ(host_field(request_to("http://h/", "h:80")), "");
}

/// Returns a head whose Host is unreadable. The framing guard rejects such a Host, so intake gets this head
/// only in tests.
RequestHead with_unreadable_host(const ReadRequest& read) {
  RequestHead head = read.head;
  head.fields.front().value = "a b";
  return head;
}

TEST(Intake, unreadable_host_field_is_ignored) {
  const ReadRequest absolute(request_to("http://h/", "h"));
  EXPECT_EQ(std::get<Forward>(take_forward(with_unreadable_host(absolute), ports)).host_field, "h");
  const ReadRequest origin(request_to("/", "h"));
  EXPECT_EQ(std::get<Forward>(take_gateway(with_unreadable_host(origin), {"up", 443, true, {}})).server_name,
            "up");
}

TEST(Intake, forward_listener_rejects_requests_that_are_not_proxy_requests) {
  EXPECT_EQ(forward_refusal(request_to("/a", "h")), Rejection::not_a_proxy_request);
  EXPECT_EQ(forward_refusal("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"), Rejection::not_a_proxy_request);
  EXPECT_EQ(forward_refusal(request_to("ftp://h/", "h")), Rejection::bad_scheme);
  EXPECT_EQ(forward_refusal(request_to("http://u:p@h/", "h")), Rejection::userinfo_in_authority);
  EXPECT_EQ(forward_refusal(request_to("http://h:0/", "h")), Rejection::bad_authority);
  EXPECT_EQ(forward_refusal(request_to("http://h:65536/", "h")), Rejection::bad_authority);
}

TEST(Intake, A16_https_is_never_sent_in_clear_text) {
  const auto forward = [](const ReadRequest& read) {
    return std::get<Forward>(take_forward(read.head, ports));
  };
  const ReadRequest read(request_to("https://h.test/a?b", "h.test"));
  EXPECT_TRUE(forward(read).https);
  EXPECT_EQ(forward(read).port, 443);
  EXPECT_EQ(forward(read).server_name, "h.test");
  EXPECT_EQ(forward(read).host_field, "");
  EXPECT_EQ(forward(read).target.path_and_query, "/a?b");
  const ReadRequest odd(request_to("https://h:80/", "h:80"));
  EXPECT_EQ(forward(odd).port, 80);
  const ReadRequest plain(request_to("http://h:443/", "h:443"));
  EXPECT_FALSE(forward(plain).https);
}

TEST(Intake, gateway_tls_server_name_follows_the_host_sent_upstream) {
  const auto taken = [](const string& target, std::string_view authority) {
    static std::vector<std::unique_ptr<ReadRequest>> kept;  // keeps the text that the results point into
    kept.push_back(std::make_unique<ReadRequest>(request_to(target, "client.test:8443")));
    return std::get<Forward>(
        take_gateway(kept.back()->head, {"up", 443, true, authority, "127.0.0.1", 3180}));
  };
  EXPECT_TRUE(taken("/", "up").https);
  EXPECT_EQ(taken("/", "up").host, "up");
  EXPECT_EQ(taken("/", "up").server_name, "up");
  EXPECT_EQ(taken("http://up/", "up").server_name, "up");
  EXPECT_EQ(taken("/", {}).server_name, "client.test");
  EXPECT_EQ(taken("/", {}).host, "up");
  EXPECT_EQ(taken("http://localhost:3180/", {}).server_name, "localhost");
  EXPECT_EQ(taken("http://localhost:3180/", {}).port, 443);
}

TEST(Intake, G1_connect_target_is_validated) {
  const ReadRequest read("CONNECT [::1]:8443 HTTP/1.0\r\n\r\n");
  const auto connect = std::get<Connect>(take_forward(read.head, ports));
  EXPECT_EQ(connect.host, "::1");
  EXPECT_EQ(connect.port, 8443);
  EXPECT_EQ(connect.authority, "[::1]:8443");
  const auto refusal = [](const string& target, const string& lines = "") {
    return forward_refusal("CONNECT " + target + " HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n");
  };
  for (const string target : {"h:", "h", "h:0", "h:99999", "[::1", "http://h:443/", "/"}) {
    EXPECT_EQ(refusal(target), Rejection::bad_authority) << target;
  }
  EXPECT_EQ(refusal("u@h:443"), Rejection::userinfo_in_authority);
  EXPECT_EQ(refusal("h:80"), Rejection::connect_port_denied);
  EXPECT_EQ(refusal("h:7999"), Rejection::connect_port_denied);
  EXPECT_EQ(refusal("h:9000"), Rejection::connect_port_denied);
  EXPECT_EQ(refusal("h:443", "Content-Length: 1\r\n"), Rejection::connect_with_body);
  EXPECT_EQ(refusal("h:443", "Transfer-Encoding: chunked\r\n"), Rejection::connect_with_body);
  EXPECT_EQ(status_of(Rejection::connect_port_denied), 403);
}

TEST(Intake, gateway_forwards_every_request_to_its_upstream) {
  const ReadRequest origin(request_to("/a?b", "127.0.0.1:3180"));
  const auto forward = std::get<Forward>(take_gateway(origin.head, {"up", 8080, false, "up:8080"}));
  EXPECT_EQ(forward.host, "up");
  EXPECT_EQ(forward.port, 8080);
  EXPECT_EQ(forward.host_field, "up:8080");
  EXPECT_EQ(forward.target.path_and_query, "/a?b");
  EXPECT_EQ(std::get<Forward>(take_gateway(origin.head, {"up", 8080, false, {}})).host_field, "");
  const ReadRequest absolute(request_to("http://UP/a", "client"));
  EXPECT_EQ(std::get<Forward>(take_gateway(absolute.head, {"up", 80, false, "up"})).host, "up");
  EXPECT_EQ(std::get<Forward>(take_gateway(absolute.head, {"up", 80, false, "up"})).host_field, "up");
  EXPECT_EQ(std::get<Forward>(take_gateway(absolute.head, {"up", 80, false, {}})).host_field, "UP");
}

TEST(Intake, gateway_rejects_absolute_targets_other_than_itself_or_its_upstream) {
  const auto cause = [](const string& target, const GatewayTarget& gateway) -> std::optional<Rejection> {
    const ReadRequest read(request_to(target, "whoever"));
    const Intake intake = take_gateway(read.head, gateway);
    const Rejected* const rejected = std::get_if<Rejected>(&intake);
    return rejected == nullptr ? std::nullopt : std::optional(rejected->cause);
  };
  const GatewayTarget plain{"up", 8080, false, "up:8080", "127.0.0.1", 3180};
  for (const string own : {"http://127.0.0.1:3180/", "http://localhost:3180/", "http://LOCALHOST:3180/x?y",
                           "http://up:8080/", "http://UP:8080"}) {
    EXPECT_EQ(cause(own, plain), std::nullopt) << own;
  }
  for (const string other :
       {"http://other/", "http://other:3180/", "http://127.0.0.1/", "http://127.0.0.2:3180/", "http://up/",
        "https://up/", "http://up:3180/", "http://localhost:8080/", "ws://other/"}) {
    EXPECT_EQ(cause(other, plain), Rejection::misdirected_request) << other;
  }
  const GatewayTarget sealed{"up", 443, true, "up", "10.0.0.1", 80};
  EXPECT_EQ(cause("http://up/", sealed), std::nullopt) << "the host's own, to be reached over TLS";
  EXPECT_EQ(cause("https://up/", sealed), std::nullopt);
  EXPECT_EQ(cause("http://10.0.0.1/", sealed), std::nullopt);
  EXPECT_EQ(cause("http://localhost/", sealed), Rejection::misdirected_request) << "it is not loopback";
  EXPECT_EQ(cause("http://up:8443/", sealed), Rejection::misdirected_request);
  const GatewayTarget v6{"up", 80, false, {}, "::1", 3180};
  EXPECT_EQ(cause("http://[::1]:3180/", v6), std::nullopt);
  EXPECT_EQ(cause("http://other/", v6), Rejection::misdirected_request) << "with the client's Host, too";
  EXPECT_EQ(status_of(Rejection::misdirected_request), 421);
}

TEST(Intake, logged_target_contains_neither_path_nor_password) {
  const auto named = [](const string& text) { return named_target(ReadRequest(text).head); };
  EXPECT_EQ(named(request_to("http://h/a?b", "x")), "h:80");
  EXPECT_EQ(named(request_to("https://h/", "x")), "h:443");
  EXPECT_EQ(named(request_to("http://[::1]:81/", "x")), "[::1]:81");
  EXPECT_EQ(named(request_to("/a", "x:82")), "x:82");
  EXPECT_EQ(named(request_to("http://u:p@h/", "x")), "x:80") << "what Host says";
  EXPECT_EQ(named("CONNECT h:9200 HTTP/1.1\r\nHost: x\r\n\r\n"), "h:9200");
  EXPECT_EQ(named("CONNECT u@h:1 HTTP/1.1\r\nHost: x\r\n\r\n"), "");
  EXPECT_EQ(named("GET / HTTP/1.0\r\n\r\n"), "");
}

TEST(Intake, gateway_keeps_the_spelling_of_the_host_field_if_it_equals_the_target_host) {
  const auto host_field = [](const string& target, const string& host) {
    const ReadRequest read(request_to(target, host));
    return string(
        std::get<Forward>(take_gateway(read.head, {"up", 80, false, {}, "127.0.0.1", 81})).host_field);
  };
  EXPECT_EQ(host_field("http://up:80/", "UP"), "");
  EXPECT_EQ(host_field("http://127.0.0.1:81/", "UP"), "127.0.0.1:81");
}

TEST(Intake, J4_J5_gateway_generates_the_response_to_trace_and_options_if_max_forwards_is_0) {
  const auto intake = [](const string& method, const string& lines) {
    const ReadRequest read(method + " / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n");
    EXPECT_EQ(read.parsed, complete) << lines;
    return take_gateway(read.head, {"up", 80, false, "up"});
  };
  EXPECT_TRUE(std::holds_alternative<Respond>(intake("TRACE", "Max-Forwards: 0\r\n")));
  EXPECT_TRUE(std::holds_alternative<Respond>(intake("OPTIONS", "Max-Forwards: 0\r\n")));
  EXPECT_TRUE(std::holds_alternative<Forward>(intake("TRACE", "Max-Forwards: 1\r\n")));
  EXPECT_EQ(std::get<Rejected>(intake("TRACE", "Max-Forwards: x\r\n")).cause, Rejection::bad_max_forwards);
  EXPECT_EQ(std::get<Rejected>(intake("TRACE", "Content-Length: 1\r\n")).cause, Rejection::trace_with_body);
}

TEST(Intake, gateway_rejects_connect_bad_targets_and_a_missing_host) {
  const auto refusal = [](const string& text, std::string_view authority) {
    const ReadRequest read(text);
    EXPECT_EQ(read.parsed, complete) << text;
    return std::get<Rejected>(take_gateway(read.head, {"up", 80, false, authority})).cause;
  };
  EXPECT_EQ(refusal("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", "up"), Rejection::connect_to_gateway);
  EXPECT_EQ(refusal("GET * HTTP/1.1\r\nHost: h\r\n\r\n", "up"), Rejection::bad_target);
  EXPECT_EQ(refusal("GET foo HTTP/1.1\r\nHost: h\r\n\r\n", "up"), Rejection::bad_scheme);
  EXPECT_EQ(refusal("GET / HTTP/1.0\r\n\r\n", ""), Rejection::missing_host);
}

TEST(Intake, J4_max_forwards_0_gets_a_local_response_to_options_and_trace) {
  const auto intake = [](const string& method, const string& lines) {
    const ReadRequest read(method + " http://h/ HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n");
    return take_forward(read.head, ports);
  };
  for (const string method : {"OPTIONS", "TRACE"}) {
    EXPECT_TRUE(std::holds_alternative<Respond>(intake(method, "Max-Forwards: 0\r\n")));
    EXPECT_TRUE(std::holds_alternative<Forward>(intake(method, "Max-Forwards: 1\r\n")));
    EXPECT_TRUE(std::holds_alternative<Forward>(intake(method, "")));
    for (const string lines :
         {"Max-Forwards: x\r\n", "Max-Forwards: 18446744073709551616\r\n", "Max-Forwards: -1\r\n",
          "Max-Forwards:\r\n", "Max-Forwards: 1\r\nMax-Forwards: 1\r\n"}) {
      EXPECT_EQ(std::get<Rejected>(intake(method, lines)).cause, Rejection::bad_max_forwards) << lines;
    }
  }
  EXPECT_TRUE(std::holds_alternative<Forward>(intake("GET", "Max-Forwards: 0\r\n")));
  EXPECT_TRUE(std::holds_alternative<Forward>(intake("POST", "Max-Forwards: x\r\n")));
}

TEST(Intake, J5_trace_with_a_body_is_rejected) {
  EXPECT_EQ(forward_refusal("TRACE http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"),
            Rejection::trace_with_body);
}

TEST(Intake, D16_cache_control_no_store_is_detected) {
  const auto no_store = [](const string& lines) { return is_no_store(ReadRequest(get(lines)).head); };
  EXPECT_TRUE(no_store("Cache-Control: no-store\r\n"));
  EXPECT_TRUE(no_store("cache-control: max-age=0 , NO-STORE,x\r\n"));
  EXPECT_TRUE(no_store("Cache-Control: no-cache\r\nCache-Control: no-store\r\n"));
  EXPECT_FALSE(no_store("Cache-Control: no-cache\r\n"));
  EXPECT_FALSE(no_store("Cache-Control: x-no-store\r\nPragma: no-store\r\n"));
  EXPECT_FALSE(no_store(""));
}

TEST(Intake, retries_by_an_outer_client_or_proxy_are_detected) {
  const auto nested = [](const string& lines) { return is_nested_retry(ReadRequest(get(lines)).head); };
  EXPECT_TRUE(nested("amz-sdk-request: attempt=2; max=3\r\n"));
  EXPECT_TRUE(nested("Amz-Sdk-Request: ttl=1; attempt=3\r\n"));
  EXPECT_FALSE(nested("amz-sdk-request: attempt=1; max=3\r\n"));
  EXPECT_FALSE(nested("amz-sdk-request: max=3\r\n"));
  EXPECT_FALSE(nested("amz-sdk-request: max=3;\r\n"));
  EXPECT_FALSE(nested("amz-sdk-request:\r\n"));
  EXPECT_TRUE(nested("x-stainless-retry-count: 1\r\n"));
  EXPECT_FALSE(nested("x-stainless-retry-count: 0\r\n"));
  EXPECT_TRUE(nested("grpc-previous-rpc-attempts: 1\r\n"));
  EXPECT_FALSE(nested("grpc-previous-rpc-attempts: x\r\n"));
  EXPECT_TRUE(nested("Reprise-Attempt: 2\r\n"));
  EXPECT_FALSE(nested("Reprise-Attempt: 1\r\n"));
  EXPECT_FALSE(nested("Reprise-Attempts: 2\r\n"));
}

TEST(Intake, C9_upgrade_is_requested_only_if_connection_names_it) {
  const ReadRequest websocket(get("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"));
  EXPECT_TRUE(asks_upgrade(websocket.head, ToH2c::dropped));
  EXPECT_TRUE(asks_upgrade(
      ReadRequest(get("Connection: upgrade\r\nUpgrade: websocket\r\nConnection: keep-alive\r\n")).head,
      ToH2c::dropped));
  EXPECT_FALSE(asks_upgrade(ReadRequest(get("Upgrade: websocket\r\n")).head, ToH2c::dropped));
  EXPECT_FALSE(
      asks_upgrade(ReadRequest(get("Connection: x\r\nUpgrade: websocket\r\n")).head, ToH2c::dropped));
  EXPECT_FALSE(asks_upgrade(ReadRequest(get("Connection: upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n")).head,
                            ToH2c::dropped));
  const ReadRequest tls(get("Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n"));
  EXPECT_TRUE(asks_upgrade(tls.head, ToH2c::dropped));
  EXPECT_TRUE(offers_only_tls(tls.head));
  EXPECT_TRUE(offers_only_tls(ReadRequest(get("Connection: upgrade\r\nUpgrade: tls/1.0, TLS/1.3\r\n")).head));
  EXPECT_FALSE(offers_only_tls(ReadRequest(get("Connection: upgrade\r\nUpgrade: TLS/1.2, x\r\n")).head));
  EXPECT_FALSE(offers_only_tls(ReadRequest(get("Upgrade: TLS/1.2\r\n")).head));
  EXPECT_FALSE(offers_only_tls(websocket.head));
  const ReadRequest old("GET http://h/ HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_FALSE(asks_upgrade(old.head, ToH2c::dropped));
  const auto accepts = [&](const string& lines) {
    return is_offered_upgrade(websocket.head, ToH2c::dropped,
                              ReadResponse("HTTP/1.1 101 X\r\n" + lines + "\r\n").head);
  };
  EXPECT_TRUE(accepts("Upgrade: WebSocket\r\nConnection: upgrade\r\n"));
  EXPECT_FALSE(accepts("Upgrade: other\r\nConnection: upgrade\r\n"));
  EXPECT_FALSE(accepts("Upgrade: websocket, other\r\n"));
  EXPECT_FALSE(accepts("Upgrade: other, websocket\r\n"));
  EXPECT_FALSE(accepts("Connection: upgrade\r\n"));
  EXPECT_FALSE(is_offered_upgrade(ReadRequest(get("")).head, ToH2c::dropped,
                                  ReadResponse("HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n").head));
}

// A list may have empty members, which a recipient ignores (RFC 9110 5.6.1.2).
TEST(Intake, C9_empty_upgrade_list_members_are_ignored) {
  const auto asking = [](const string& offers) {
    return get("Connection: upgrade\r\nUpgrade: " + offers + "\r\n");
  };
  EXPECT_FALSE(asks_upgrade(ReadRequest(asking(",")).head, ToH2c::dropped));
  EXPECT_FALSE(asks_upgrade(ReadRequest(asking(", h2c ,")).head, ToH2c::dropped));
  EXPECT_TRUE(offers_only_tls(ReadRequest(asking("TLS, ,")).head));
  EXPECT_TRUE(offers_only_tls(ReadRequest(asking("tls")).head));
  EXPECT_FALSE(offers_only_tls(ReadRequest(asking("TLSv1, TLS")).head)) << "another protocol's name";
  const ReadRequest asked(asking(" ,, websocket,"));
  ASSERT_TRUE(asks_upgrade(asked.head, ToH2c::dropped));
  const auto accepts = [&](const string& chosen) {
    return is_offered_upgrade(asked.head, ToH2c::dropped,
                              ReadResponse("HTTP/1.1 101 X\r\nUpgrade: " + chosen + "\r\n\r\n").head);
  };
  EXPECT_TRUE(accepts(", websocket ,"));
  EXPECT_FALSE(accepts(",")) << "that it was offered does not make it a protocol";
}

TEST(Intake, L13_all_members_of_a_long_upgrade_list_are_checked) {
  string many;
  for (int i = 0; i < 5000; ++i) many += "p" + std::to_string(i) + ",";
  const ReadRequest asked(get("Connection: upgrade\r\nUpgrade: " + many + "last\r\nUpgrade: more\r\n"));
  ASSERT_EQ(asked.parsed, complete);
  const auto accepts = [&](const string& value) {
    return is_offered_upgrade(asked.head, ToH2c::dropped,
                              ReadResponse("HTTP/1.1 101 X\r\nUpgrade: " + value + "\r\n\r\n").head);
  };
  EXPECT_TRUE(accepts(many + "LAST, P17, more"));
  EXPECT_FALSE(accepts(many + "p5000"));
  EXPECT_FALSE(accepts("h2c"));
  EXPECT_FALSE(accepts(","));
  EXPECT_FALSE(is_offered_upgrade(asked.head, ToH2c::dropped,
                                  ReadResponse("HTTP/1.1 200 X\r\nUpgrade: last\r\n\r\n").head));
}

TEST(Intake, M9_request_inside_a_tunnel_for_another_host_is_misdirected_only_over_http_2) {
  const Connect tunnel{"h", 443, "h:443"};
  for (const auto& [over_http2, cause] : std::vector<std::pair<bool, Rejection>>{
           {true, Rejection::misdirected_request}, {false, Rejection::bad_target}}) {
    ReadRequest read(request_to("https://other/", "other"));
    read.head.over_http2 = over_http2;
    const Intake intake = take_tunnelled(read.head, tunnel, true);
    const Rejected* const rejected = std::get_if<Rejected>(&intake);
    ASSERT_NE(rejected, nullptr);
    EXPECT_EQ(rejected->cause, cause);
  }
}

TEST(Intake, put_and_patch_with_if_none_match_create_only) {
  const auto creates = [](const string& method, const string& lines) {
    const ReadRequest read(method + " / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n" + lines + "\r\n");
    EXPECT_EQ(read.parsed, complete);
    return is_create_only(read.head);
  };
  const string only_new = "If-None-Match: *\r\n";
  EXPECT_TRUE(creates("PUT", only_new));
  EXPECT_TRUE(creates("PATCH", only_new));
  EXPECT_FALSE(creates("POST", only_new));
  EXPECT_FALSE(creates("PUT", ""));
  EXPECT_FALSE(creates("PATCH", "If-None-Match: \"a\"\r\n"));
}

}  // namespace
}  // namespace reprise::http
