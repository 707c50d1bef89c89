// Tests which heads authenticate a connection, so that later requests on it are authenticated too.
#include "proxy/http/message/connection_auth.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

bool by_request(const string& lines) { return authenticates_connection(ReadRequest(get(lines)).head); }

bool by_response(const string& lines, const string& status = "401") {
  return authenticates_connection(
      ReadResponse("HTTP/1.1 " + status + " X\r\nContent-Length: 0\r\n" + lines + "\r\n").head);
}

TEST(ConnectionAuth, F2_ntlm_and_negotiate_credentials_bind_the_connection) {
  EXPECT_TRUE(by_request("Authorization: NTLM TlRMTVNTUAAB\r\n"));
  EXPECT_TRUE(by_request("authorization: negotiate YII=\r\n"));
  EXPECT_FALSE(by_request("Authorization: Basic TlRMTTo=\r\n"));
  EXPECT_FALSE(by_request("Authorization: NTLMv3 x\r\n"));
  EXPECT_FALSE(by_request("X-Authorization: NTLM TlRMTVNTUAAB\r\n"));
  EXPECT_FALSE(by_request(""));
}

TEST(ConnectionAuth, F2_ntlm_or_negotiate_challenge_is_found_at_any_position) {
  EXPECT_TRUE(by_response("WWW-Authenticate: NTLM\r\n"));
  EXPECT_TRUE(by_response("WWW-Authenticate: Basic realm=\"a\"\r\nwww-authenticate: Negotiate\r\n"));
  EXPECT_TRUE(by_response("WWW-Authenticate: Basic realm=\"a, b\", , Negotiate\r\n"));
  EXPECT_TRUE(by_response("WWW-Authenticate: NTLM, Basic realm=\"a\"\r\n"))
      << "what stands behind it is no news";
  EXPECT_TRUE(by_response("Proxy-Authenticate: NTLM\r\n", "407"));
}

TEST(ConnectionAuth, F2_basic_and_bearer_and_status_403_do_not_bind_the_connection) {
  EXPECT_FALSE(by_response("WWW-Authenticate: ,\r\n"));
  EXPECT_FALSE(by_response("WWW-Authenticate: Bearer scope=NTLM, Basic realm=\"Negotiate\"\r\n"));
  EXPECT_FALSE(by_response("X-Authenticate: NTLM\r\n"));
  EXPECT_FALSE(by_response("WWW-Authenticate: NTLM\r\n", "403"));
  EXPECT_FALSE(by_response(""));
}

}  // namespace
}  // namespace reprise::http
