// Tests that a valid request and its response allocate no memory once the buffers are allocated.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/via.hpp"
#include "tests/http/reading.hpp"

namespace {
std::size_t allocations = 0;
}

// Replaces operator new for the whole test program, to count allocations. Not inlined: GCC would see free()
// paired with `new` and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace reprise::http {
namespace {

struct Connection {
  RequestHead request;
  ResponseHead response;
  ChunkDecoder decoder;
  std::string out;
};

void exchange(Connection& connection) {
  constexpr std::string_view request_text =
      "PUT http://api.example.com/v1/x?y=z HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: a\r\nAccept: "
      "*/*\r\n"
      "Connection: keep-alive\r\nProxy-Connection: keep-alive\r\nTransfer-Encoding: chunked\r\nX-Long: "
      "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv\r\n\r\n";
  constexpr std::string_view body_text = "5\r\nhello\r\n0\r\n\r\n";
  constexpr std::string_view response_text =
      "HTTP/1.1 200 OK\r\nServer: a\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\n"
      "Connection: keep-alive\r\n\r\n";
  ASSERT_EQ(parse_request(request_text, {}, connection.request), complete);
  const Intake intake = take_forward(connection.request, {});
  ASSERT_FALSE(has_looped(connection.request, "reprise-x1"));
  ASSERT_FALSE(is_nested_retry(connection.request));
  connection.out.clear();
  write_request_head(connection.request, std::get<Forward>(intake), "reprise-x1", false, connection.out);
  connection.decoder.reset();
  const auto data = connection.decoder.step(body_text);
  ASSERT_EQ(data.data, "hello");
  ASSERT_EQ(connection.decoder.step(body_text.substr(data.consumed)).state, ChunkDecoder::State::done);
  ASSERT_EQ(parse_response(response_text, {}, "PUT", connection.response), complete);
  ResponseRewrite rewrite;
  rewrite.via_pseudonym = "reprise-x1";
  write_response_head(connection.response, rewrite, connection.out);
}

TEST(Allocation, second_exchange_with_content_length_on_a_connection_allocates_nothing) {
  Connection connection;
  const std::size_t before_first = allocations;
  exchange(connection);
  EXPECT_GT(allocations, before_first);  // the counter works
  const std::size_t before_second = allocations;
  exchange(connection);
  EXPECT_EQ(allocations, before_second);
}

/// Sends a chunked body with trailers in each direction, in pieces as a socket delivers them.
void exchange_in_chunks(Connection& connection) {
  constexpr std::string_view response_text =
      "HTTP/1.1 200 OK\r\nServer: a\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nTransfer-Encoding: chunked\r\n"
      "Trailer: X-Sum\r\nConnection: keep-alive\r\n\r\n";
  constexpr std::string_view body_text =
      "5;name=\"value of an extension\"\r\nhello\r\n0000000000000003\r\nabc\r\n0\r\n"
      "X-Sum: 0123456789012345678901234567890123456789\r\nX-Other: 2\r\n\r\n";
  ASSERT_EQ(parse_response(response_text, {}, "GET", connection.response), complete);
  ResponseRewrite rewrite;
  rewrite.chunked = true;
  rewrite.via_pseudonym = "reprise-x1";
  connection.out.clear();
  write_response_head(connection.response, rewrite, connection.out);
  connection.decoder.reset();
  std::size_t data_bytes = 0;
  ChunkDecoder::Step step;
  for (std::size_t at = 0; step.state != ChunkDecoder::State::done; at += step.consumed) {
    step = connection.decoder.step(body_text.substr(at, 7));
    ASSERT_NE(step.state, ChunkDecoder::State::broken);
    data_bytes += step.data.size();
    if (!step.data.empty()) write_chunk_size(step.data.size(), connection.out);
  }
  ASSERT_EQ(data_bytes, 8U);
  append_trailers(connection.decoder.trailers(), connection.response.fields, connection.out);
  write_last_chunk(connection.decoder.trailers(), connection.out);
}

TEST(Allocation, second_chunked_response_with_trailers_allocates_nothing) {
  Connection connection;
  const std::size_t before_first = allocations;
  exchange_in_chunks(connection);
  EXPECT_GT(allocations, before_first);
  const std::size_t before_second = allocations;
  exchange_in_chunks(connection);
  EXPECT_EQ(allocations, before_second);
}

/// Reads responses without a body and a response whose body ends with the connection.
void read_bodiless(Connection& connection) {
  constexpr std::string_view responses[] = {
      "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
      "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n"};
  for (const std::string_view response : responses) {
    ASSERT_EQ(parse_response(response, {}, "GET", connection.response), complete);
    connection.out.clear();
    write_response_head(connection.response, {}, connection.out);
  }
}

TEST(Allocation, second_response_without_a_length_allocates_nothing) {
  Connection connection;
  read_bodiless(connection);
  const std::size_t before = allocations;
  read_bodiless(connection);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace reprise::http
