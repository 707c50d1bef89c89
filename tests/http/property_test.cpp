// Tests properties of every head: the result does not depend on how the bytes are split, a damaged head never
// causes a crash, and an accepted head keeps its framing.
#include <gtest/gtest.h>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/http1/scanner.hpp"
#include "proxy/http/message/via.hpp"
#include "tests/http/reading.hpp"
#include "tests/support/chance.hpp"

namespace reprise::http {
namespace {

using std::string;
using Random = play::Chance;

const std::vector<string> request_heads{
    "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
    "\r\nPOST http://h:8080/a?b=c HTTP/1.1\r\nHost: h:8080\r\nContent-Length: 5\r\nExpect: "
    "100-continue\r\n\r\n",
    "PUT http://[::1]/x HTTP/1.1\r\nhost: [::1]\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\nTE: "
    "trailers\r\n\r\n",
    "DELETE http://h/ HTTP/1.0\r\nConnection: keep-alive\r\nVia: 1.0 a\r\n\r\n",
    "OPTIONS http://h HTTP/1.1\r\nHost: h\r\nMax-Forwards: 3\r\nConnection: X-Hop, close\r\nX-Hop: "
    "\xc3\xa9\r\n\r\n",
    "GET http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nContent-Length: 0\r\nX: \t a\tb \r\n\r\n"};

const std::vector<string> response_heads{
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n",
    "HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\nRetry-After: 3\r\nTrailer: A\r\n\r\n",
    "HTTP/1.1 200 OK\nServer: x\n y\nContent-Length: 3\nDate: Sun, 06 Nov 1994 08:49:37 GMT\n\n",
    "HTTP/1.2 200 OK\r\nTransfer-Encoding: identity, Chunked\r\nX: a\r\n\tb\r\n\r\n",
    "HTTP/1.0 200\r\nServer : x\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nVia: 1.1 a\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\nConnection: a; b\r\n\r\n"};

/// Damages a head in one to three places: a byte changed, removed or doubled, or a piece of another head
/// inserted.
string mutate(string text, const std::vector<string>& heads, Random& random) {
  const string spice = "\r\n\t :,;0159aAhHtT\x01\x7f\xff#/";
  for (unsigned times = static_cast<unsigned>(random.below(3)) + 1; times > 0 && !text.empty(); --times) {
    const std::size_t at = random.below(text.size());
    switch (random.below(5)) {
      case 0: text[at] = random.byte(); break;
      case 1: text.erase(at, 1); break;
      case 2: text.insert(at, 1, text[at]); break;
      case 3: text.insert(at, 1, spice[random.below(spice.size())]); break;
      default: {
        const string& other = heads[random.below(heads.size())];
        const std::size_t from = random.below(other.size());
        text.insert(at, other.substr(from, random.below(30)));
      }
    }
  }
  return text;
}

/// Parses the head again after each byte. Returns the first result that is not partial.
template <class Parse>
Parsed feed_bytewise(const string& text, Parse parse) {
  for (std::size_t length = 0; length <= text.size(); ++length) {
    // A copy of the exact size, so that a sanitizer detects any read beyond it.
    const std::vector<char> copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
    const Parsed parsed = parse(std::string_view(copy.data(), copy.size()));
    if (parsed != partial) return parsed;
  }
  return partial;
}

Parsed parse_one_request(std::string_view text) {
  RequestHead head;
  return parse_request(text, {}, head);
}
Parsed parse_one_response(std::string_view text) {
  ResponseHead head;
  return parse_response(text, {}, "GET", head);
}

TEST(Property, valid_head_counts_as_partial_until_its_last_byte_has_arrived) {
  for (const string& text : request_heads) {
    for (std::size_t length = 0; length < text.size(); ++length) {
      ASSERT_EQ(parse_one_request(std::string_view(text).substr(0, length)), partial) << text << length;
    }
    EXPECT_EQ(parse_one_request(text), complete) << text;
    EXPECT_EQ(parse_one_request(text + "behind"), complete) << text;
  }
  for (const string& text : response_heads) {
    EXPECT_EQ(feed_bytewise(text, parse_one_response), complete) << text;
  }
}

TEST(Property, byte_by_byte_input_gives_the_same_verdict) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const string request_text =
        mutate(request_heads[random.below(request_heads.size())], request_heads, random);
    ASSERT_EQ(feed_bytewise(request_text, parse_one_request), parse_one_request(request_text))
        << request_text;
    const string response_text =
        mutate(response_heads[random.below(response_heads.size())], response_heads, random);
    ASSERT_EQ(feed_bytewise(response_text, parse_one_response), parse_one_response(response_text))
        << response_text;
  }
}

bool same(const Framing& a, const Framing& b) { return a.kind == b.kind && a.length == b.length; }

TEST(Property, accepted_request_keeps_its_framing_when_forwarded) {
  Random random(2);
  unsigned accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    const string text = mutate(request_heads[random.below(request_heads.size())], request_heads, random);
    const ReadRequest read(text);
    if (read.parsed != complete) continue;
    const Intake intake = take_forward(read.head, {{1, 65535}});
    const Forward* const forward = std::get_if<Forward>(&intake);
    if (forward == nullptr) continue;
    ++accepted;
    string out;
    write_request_head(read.head, *forward, "reprise-x1", false, out);
    const ReadRequest again(out + "\r\n");
    ASSERT_EQ(again.parsed, complete) << text << "---\n" << out;
    ASSERT_TRUE(same(again.head.framing, read.head.framing)) << text << "---\n" << out;
    ASSERT_EQ(again.head.method, read.head.method);
    ASSERT_TRUE(has_looped(again.head, "reprise-x1")) << out;
    ASSERT_EQ(again.head.bytes, again.text.size());
  }
  EXPECT_GT(accepted, 3000U);
}

TEST(Property, accepted_response_keeps_its_framing_when_forwarded) {
  Random random(3);
  unsigned accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    const string text = mutate(response_heads[random.below(response_heads.size())], response_heads, random);
    const ReadResponse read(text);
    if (read.parsed != complete) continue;
    ++accepted;
    ResponseRewrite rewrite;
    rewrite.via_pseudonym = "reprise-x1";
    rewrite.date = "Sun, 06 Nov 1994 08:49:37 GMT";
    rewrite.chunked = read.head.framing.kind == Framing::Kind::chunked ||
                      read.head.framing.kind == Framing::Kind::until_close;
    string out;
    write_response_head(read.head, rewrite, out);
    const ReadResponse again(out);
    ASSERT_EQ(again.parsed, complete) << text << "---\n" << out;
    const Framing expected = rewrite.chunked ? Framing{Framing::Kind::chunked, 0} : read.head.framing;
    ASSERT_TRUE(same(again.head.framing, expected)) << text << "---\n" << out;
    ASSERT_EQ(again.head.status, read.head.status);
    ASSERT_TRUE(again.head.reusable) << out;
    ASSERT_TRUE(again.head.clean.empty()) << "what leaves needs no cleaning: " << out;
  }
  EXPECT_GT(accepted, 3000U);
}

TEST(Property, I1_large_head_fed_byte_by_byte_takes_linear_time) {
  // The head has about 60 KB: first in one long line, then in many shorter lines. Parsing the whole head
  // again after every byte would read 2 GiB.
  for (const std::size_t line_bytes : {std::size_t{60000}, std::size_t{470}}) {
    string text = "GET http://h/ HTTP/1.1\r\nHost: h\r\n";
    while (text.size() < 60000) text += "X: " + string(line_bytes, 'v') + "\r\n";
    text += "\r\n";
    RequestHead head;
    const HeadLimits limits{128 * 1024, 256, 16 * 1024};
    std::size_t bytes_read = 0;
    for (std::size_t length = 0; length < text.size(); ++length) {
      const std::string_view prefix = std::string_view(text).substr(0, length);
      if (!worth_waiting(prefix, limits.target_bytes, Spelling::strict)) bytes_read += length;
      ASSERT_EQ(parse_request(prefix, limits, head), partial) << length;
    }
    EXPECT_EQ(parse_request(text, limits, head), complete);
    EXPECT_LT(bytes_read, 200 * text.size());
  }
}

TEST(Property, I1_malformed_large_head_is_rejected_before_its_end) {
  const string start = "GET http://h/ HTTP/1.1\r\nHost: h\r\n";
  const string filler = "X: " + string(3000, 'v') + "\r\n";
  EXPECT_EQ(parse_one_request(start + filler + "Y: bare\nZ: z"), Parsed{Rejection::bad_field_value});
  EXPECT_EQ(parse_one_request("GET /" + string(66000, 'a')), Parsed{Rejection::target_too_long});
  EXPECT_EQ(parse_one_request(start + filler + "Y: y"), partial);
}

TEST(Property, reused_request_head_keeps_its_storage) {
  const string text = request_heads[1];
  RequestHead head;
  ASSERT_EQ(parse_request(text, {}, head), complete);
  const FieldLine* const storage = head.fields.data();
  const std::size_t fields = head.fields.size();
  ASSERT_EQ(parse_request(text, {}, head), complete);
  EXPECT_EQ(head.fields.data(), storage);
  EXPECT_EQ(head.fields.size(), fields);
}

}  // namespace
}  // namespace reprise::http
