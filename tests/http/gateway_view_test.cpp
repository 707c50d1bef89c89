// Tests how a gateway rewrites an upstream's redirects and cookies for its clients.
#include "proxy/http/message/gateway_view.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"

namespace reprise::http {
namespace {

const GatewayView over_tls{"api.example.com", 443, true, "", "127.0.0.1:3180"};
const GatewayView below_base{"api.example.com", 8080, false, "/base", "localhost:3180"};

constexpr std::string_view stays = "(stays)";

std::string location(const GatewayView& view, std::string_view value) {
  return location_through(view, value).value_or(std::string(stays));
}

std::string cookie(std::string_view value, const GatewayView& view = over_tls) {
  return cookie_through(view, value).value_or(std::string(stays));
}

TEST(GatewayLocation, location_with_the_upstream_origin_gets_the_gateway_origin) {
  EXPECT_EQ(location(over_tls, "https://api.example.com/v1/x?y=1#z"), "http://127.0.0.1:3180/v1/x?y=1#z");
  EXPECT_EQ(location(over_tls, "HTTPS://API.example.com:443/a%2Fb"), "http://127.0.0.1:3180/a%2Fb");
  EXPECT_EQ(location(over_tls, "https://api.example.com"), "http://127.0.0.1:3180/");
  EXPECT_EQ(location(over_tls, "https://api.example.com?y"), "http://127.0.0.1:3180/?y");
  EXPECT_EQ(location(over_tls, "//api.example.com/x"), "http://127.0.0.1:3180/x");
}

TEST(GatewayLocation, location_with_another_origin_or_a_relative_reference_is_unchanged) {
  for (const std::string_view value :
       {"http://api.example.com/x", "https://api.example.com:8443/x", "https://other.example.com/x",
        "https://api.example.com.evil.test/x", "https://user@api.example.com/x", "//other.test/x", "/v1/x",
        "x/y", "?page=2", "", "mailto:a@example.com", "httpsfoo", "https://", "#top"}) {
    EXPECT_EQ(location(over_tls, value), stays) << value;
  }
}

TEST(GatewayLocation, path_prefix_of_the_upstream_is_removed_from_location_and_other_urls_are_unchanged) {
  EXPECT_EQ(location(below_base, "http://api.example.com:8080/base/x"), "http://localhost:3180/x");
  EXPECT_EQ(location(below_base, "http://api.example.com:8080/base"), "http://localhost:3180/");
  EXPECT_EQ(location(below_base, "http://api.example.com:8080/base?q"), "http://localhost:3180/?q");
  EXPECT_EQ(location(below_base, "/base/x#y"), "/x#y");
  for (const std::string_view value :
       {"http://api.example.com:8080/other", "http://api.example.com:8080/based/x", "x", "?q"})
    EXPECT_EQ(location(below_base, value), stays) << value;
}

TEST(GatewayLocation, path_outside_of_the_path_prefix_gets_the_upstream_origin) {
  EXPECT_EQ(location(below_base, "/other?q#y"), "http://api.example.com:8080/other?q#y");
  EXPECT_EQ(location(below_base, "/based"), "http://api.example.com:8080/based");
  EXPECT_EQ(location(below_base, "/"), "http://api.example.com:8080/");
  EXPECT_EQ(location({"::1", 443, true, "/base", "localhost:3180"}, "/login"), "https://[::1]/login");
}

TEST(GatewayLocation, location_with_gateway_authority_and_upstream_scheme_is_rewritten) {
  EXPECT_EQ(location(over_tls, "https://127.0.0.1:3180/x"), "http://127.0.0.1:3180/x");
  EXPECT_EQ(location(over_tls, "http://127.0.0.1:3180/x"), stays);
}

TEST(GatewayCookie, cookie_loses_domain_and_secure_and_is_otherwise_unchanged) {
  EXPECT_EQ(cookie("id=7; Domain=example.com; Path=/;  HttpOnly; Secure; SameSite=Lax"),
            "id=7; Path=/;  HttpOnly; SameSite=Lax");
  EXPECT_EQ(cookie("id=7;secure"), "id=7");
  EXPECT_EQ(cookie("id=7; DOMAIN = .Example.com ; Max-Age=5"), "id=7; Max-Age=5");
  EXPECT_EQ(cookie("id=a=Secure; Path=/"), stays);
  EXPECT_EQ(cookie("Secure=1; Path=/"), stays);
  EXPECT_EQ(cookie("id=7;; Path=/;"), stays);
  EXPECT_EQ(cookie(""), stays);
}

TEST(GatewayCookie, cookie_path_selects_the_same_requests_through_the_gateway) {
  EXPECT_EQ(cookie("id=7; Path=/base/x; HttpOnly", below_base), "id=7; Path=/x; HttpOnly");
  EXPECT_EQ(cookie("id=7;path = /base/", below_base), "id=7; Path=/");
  EXPECT_EQ(cookie("id=7; Path=/base; Secure", below_base), "id=7; Path=/");
  GatewayView deep = below_base;
  deep.path_prefix = "/base/v1";
  EXPECT_EQ(cookie("id=7; Path=/base", deep), "id=7; Path=/");
  EXPECT_EQ(cookie("id=7; Path=/base/", deep), "id=7; Path=/");
  for (const std::string_view value : {"id=7; Path=/", "id=7; Path=/other", "id=7; Path=/based",
                                       "id=7; Path=base", "id=7; Path", "id=7; Path=/bas"})
    EXPECT_EQ(cookie(value, below_base), stays) << value;
  EXPECT_EQ(cookie("id=7; Path=/base/x"), stays);
}

TEST(GatewayCookie, cookie_that_requires_secure_is_unchanged) {
  for (const std::string_view value :
       {"__Host-id=7; Secure; Path=/", "__secure-id=7; Domain=example.com; Secure",
        "id=7; Secure; SameSite=None", "id=7; samesite = NONE; Domain=example.com; Secure"})
    EXPECT_EQ(cookie(value), stays) << value;
}

TEST(NamesGateway, host_field_with_the_gateway_port_names_the_gateway_unless_it_is_the_upstream_authority) {
  EXPECT_TRUE(names_gateway(over_tls, "127.0.0.1:3180", 3180));
  EXPECT_TRUE(names_gateway(over_tls, "reprise:3180", 3180));
  EXPECT_TRUE(names_gateway(over_tls, "[::1]:3180", 3180));
  EXPECT_TRUE(names_gateway(over_tls, "gateway.test", 80));
  for (const std::string_view host : {"api.example.com", "api.example.com:443", "127.0.0.1", "", "a b:3180"})
    EXPECT_FALSE(names_gateway(over_tls, host, 3180)) << host;
  EXPECT_FALSE(names_gateway({"api.test", 3180, false, "", ""}, "API.test:3180", 3180));
}

TEST(GatewayResponse, only_set_cookie_fields_and_location_fields_of_3xx_responses_are_rewritten) {
  const std::string fields =
      "Location: https://api.example.com/x\r\nX-Odd:  a  b\r\nSet-Cookie: id=7; Secure\r\n"
      "Content-Location: https://api.example.com/x\r\nSet-Cookie: other=1\r\nContent-Length: 0\r\nDate: "
      "d\r\n";
  const auto written = [&](std::string_view status) {
    const std::string text = "HTTP/1.1 " + std::string(status) + " R\r\n" + fields + "\r\n";
    ResponseHead head;
    parse_response(text, {}, "GET", head);
    ResponseRewrite rewrite;
    rewrite.via_pseudonym = "p";
    rewrite.gateway = &over_tls;
    std::string out;
    write_response_head(head, rewrite, out);
    return out;
  };
  EXPECT_EQ(written("302"),
            "HTTP/1.1 302 R\r\nLocation: http://127.0.0.1:3180/x\r\nX-Odd:  a  b\r\nSet-Cookie: id=7\r\n"
            "Content-Location: https://api.example.com/x\r\nSet-Cookie: other=1\r\nDate: d\r\n"
            "Content-Length: 0\r\nVia: 1.1 p\r\n\r\n");
  EXPECT_NE(written("201").find("Location: https://api.example.com/x\r\n"), std::string::npos);
}

TEST(GatewayLocation, location_without_a_scheme_has_that_of_the_upstream) {
  EXPECT_EQ(location(below_base, "//api.example.com:8080/base/x"), "http://localhost:3180/x");
}

TEST(GatewayLocation, location_that_already_names_the_gateway_is_unchanged) {
  const GatewayView same{"127.0.0.1", 3180, false, "", "127.0.0.1:3180"};
  EXPECT_EQ(location(same, "http://127.0.0.1:3180/x"), stays);
}

}  // namespace
}  // namespace reprise::http
