// Tests which first bytes of a tunnel may be sent again: exactly one complete ClientHello.
#include "proxy/forward/tunnel/client_hello.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/client_hello.hpp"

namespace reprise::forward {
namespace {

using play::client_hello;
using play::extension;
using play::hello_message;
using play::number;
using play::record;
using play::some_extensions;

TEST(ClientHello, every_prefix_of_a_client_hello_is_incomplete) {
  const std::string hello = client_hello();
  for (std::size_t i = 0; i < hello.size(); ++i) {
    ASSERT_EQ(judge_client_hello(std::string_view(hello).substr(0, i)), Hello::more) << i;
  }
  EXPECT_EQ(judge_client_hello(hello), Hello::whole);
}

TEST(ClientHello, client_hello_without_extensions_is_complete) {
  EXPECT_EQ(judge_client_hello(record(hello_message({}))), Hello::whole);
}

TEST(ClientHello, client_hello_may_span_several_records) {
  const std::string message = hello_message(some_extensions());
  for (const std::size_t first : {1U, 3U, 4U, 5U, 600U}) {
    const std::string hello = record(message.substr(0, first)) + record(message.substr(first));
    for (std::size_t i = 0; i < hello.size(); ++i) {
      ASSERT_EQ(judge_client_hello(std::string_view(hello).substr(0, i)), Hello::more) << i;
    }
    EXPECT_EQ(judge_client_hello(hello), Hello::whole);
  }
}

TEST(ClientHello, client_hello_with_early_data_is_not_replayable) {
  EXPECT_EQ(judge_client_hello(record(hello_message(some_extensions() + extension(42, "")))), Hello::other);
  EXPECT_EQ(judge_client_hello(record(hello_message(extension(42, "") + some_extensions()))), Hello::other);
}

TEST(ClientHello, bytes_after_the_client_hello_make_it_not_replayable) {
  const std::string message = hello_message(some_extensions());
  for (const std::string& bytes : std::vector<std::string>{
           record(message) + "\x14", record(message) + record("x"), record(message + "x"),
           record(message).append(std::string("\x17\x03\x03\0\x01z", 6))}) {
    EXPECT_EQ(judge_client_hello(bytes), Hello::other);
  }
  // The record is longer than the message inside it.
  const std::string longer = "\x16\x03\x01" + number(message.size() + 1, 2) + message;
  EXPECT_EQ(judge_client_hello(longer), Hello::other);
}

TEST(ClientHello, bytes_that_are_not_a_client_hello_are_recognised_as_such) {
  const std::string message = hello_message(some_extensions());
  const std::string no_suites = std::string("\x03\x03") + std::string(32, 'r') + std::string(6, '\0');
  for (const std::string& bytes : std::vector<std::string>{
           "GET / HTTP/1.1\r\n", "\x17", std::string("\x16\x02"), std::string("\x16\x03\x01\0\0", 5),
           "\x16\x03\x01" + number(16385, 2), record("\x02"), record("\x01" + number(1, 3) + "x"),
           record("\x01" + number(no_suites.size(), 3) + no_suites), record("\x01" + number(20'000, 3)),
           record(hello_message(number(0, 2) + number(9, 2) + "short")),
           record(std::string("\x01") + number(message.size() - 5, 3) +
                  message.substr(4, message.size() - 5))}) {
    EXPECT_EQ(judge_client_hello(bytes), Hello::other) << bytes.size();
  }
}

/// Returns a ClientHello whose lists have these sizes in bytes, with `behind` after its extensions.
std::string hello_of(std::size_t session, std::size_t suite_bytes, std::size_t compressions,
                     std::string_view behind = {}) {
  std::string body("\x03\x03");
  body.append(32, 'r').append(play::vector(std::string(session, 's'), 1));
  body.append(play::vector(std::string(suite_bytes, 'c'), 2));
  body.append(play::vector(std::string(compressions, '\0'), 1));
  body.append(play::vector(some_extensions(), 2)).append(behind);
  return record(std::string("\x01").append(play::vector(body, 3)));
}

TEST(ClientHello, list_sizes_must_conform_to_rfc_8446) {
  EXPECT_EQ(judge_client_hello(hello_of(0, 2, 1)), Hello::whole);
  EXPECT_EQ(judge_client_hello(hello_of(32, 6, 2)), Hello::whole);
  EXPECT_EQ(judge_client_hello(hello_of(33, 2, 1)), Hello::other);
  EXPECT_EQ(judge_client_hello(hello_of(32, 0, 1)), Hello::other);
  EXPECT_EQ(judge_client_hello(hello_of(32, 3, 1)), Hello::other);
  EXPECT_EQ(judge_client_hello(hello_of(32, 2, 0)), Hello::other);
  EXPECT_EQ(judge_client_hello(hello_of(32, 2, 1, "x")), Hello::other) << "its extensions are its end";
}

TEST(ClientHello, client_hello_size_is_limited) {
  const std::string large = hello_message(extension(21, std::string(16'000, '\0')));
  EXPECT_EQ(judge_client_hello(record(large)), Hello::whole);
  const std::string larger = hello_message(extension(21, std::string(16'400, '\0')));
  EXPECT_EQ(judge_client_hello(record(larger.substr(0, 10))), Hello::other);
  // The record headers of a ClientHello in many records count towards the size limit too.
  std::string pieces;
  for (std::size_t at = 0; at < large.size(); at += 100) pieces += record(large.substr(at, 100));
  ASSERT_GT(pieces.size(), longest_hello);
  EXPECT_EQ(judge_client_hello(pieces), Hello::other);
  EXPECT_EQ(judge_client_hello(pieces.substr(0, longest_hello)), Hello::more);
}

}  // namespace
}  // namespace reprise::forward
