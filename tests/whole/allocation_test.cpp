// Tests memory use of the whole proxy: allocations per request on a kept-alive connection, bytes held by
// stalled connections, and the behaviour when an allocation fails.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>
#include <vector>

#include "tests/support/running_proxy.hpp"
#include "tests/support/scripted_upstream.hpp"
#include "tests/support/tls_end.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> live_bytes{0};
// Counts down to the allocation that fails, on threads that set `starves`. 0: no allocation fails.
std::atomic<std::size_t> until_failure{0};
thread_local bool starves = false;

bool fails_now() { return starves && until_failure > 0 && --until_failure == 0; }

void* allocate(std::size_t size) {
  if (fails_now()) return nullptr;
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::malloc(size == 0 ? 1 : size);
  live_bytes.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}

void give_back(void* memory) {
  live_bytes.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}
}  // namespace

// Replaces operator new for the whole test program, to count allocations. Not inlined: GCC would see free()
// paired with `new` and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }

namespace reprise::server {
namespace {

/// Sends one request and reads the response up to its last bytes. Does not allocate.
bool ask(int descriptor, std::string_view request, std::string_view last) {
  if (::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, 4096> room{};
  std::size_t have = 0;
  while (!std::string_view(room.data(), have).ends_with(last)) {
    const auto got = ::recv(descriptor, room.data() + have, room.size() - have, 0);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
  }
  return true;
}

double allocations_per_request(std::string_view method, std::string_view body) {
  const std::string told = play::response(200, "the end of it");
  play::ScriptedUpstream upstream([&](play::Peer& peer) {
    std::array<char, 4096> room{};
    while (::recv(peer.socket.descriptor(), room.data(), room.size(), 0) > 0) {
      ::send(peer.socket.descriptor(), told.data(), told.size(), MSG_NOSIGNAL);
    }
  });
  play::Wishes wishes;
  wishes.settings.log.access = false;
  play::RunningProxy proxy(std::move(wishes));
  play::RawClient client = proxy.client();
  const std::string request = body.empty() ? play::get(upstream.authority(), "/path?query", "Accept: */*\r\n")
                                           : play::with_body(method, upstream.authority(), body);
  constexpr int warm_up = 50;
  constexpr int rounds = 200;
  for (int i = 0; i < warm_up; ++i) EXPECT_TRUE(ask(client.socket().descriptor(), request, "the end of it"));
  const std::size_t before = allocations;
  for (int i = 0; i < rounds; ++i) EXPECT_TRUE(ask(client.socket().descriptor(), request, "the end of it"));
  const double each = static_cast<double>(allocations - before) / rounds;
  std::printf("%.*s: %.2f allocations a request\n", static_cast<int>(method.size()), method.data(), each);
  return each;
}

TEST(ProxyAllocation, plain_http_exchange_needs_fewer_than_20_allocations) {
  const std::size_t before = allocations;
  EXPECT_LT(allocations_per_request("GET", ""), 20);
  EXPECT_LT(allocations_per_request("POST", std::string(500, 'x')), 20);
  EXPECT_GT(allocations, before);  // the counter works
}

// Allocations of OpenSSL bypass operator new, so this test counts only the allocations of the proxy itself.
TEST(ProxyAllocation, exchange_over_tls_needs_few_allocations) {
  const play::TlsServer server;
  const std::string told = play::response(200, "the end of it");
  play::ScriptedUpstream upstream([&](play::Peer& peer) {
    play::TlsEnd end(server, std::move(peer.socket));
    if (!end.accept()) return;
    while (end.read() == play::TlsEndsWith::bytes) end.send(told);
  });
  play::Wishes wishes;
  wishes.settings.log.access = false;
  wishes.route.tls.originate = true;
  wishes.route.tls.ca_file = server.certificate_file();
  play::RunningProxy proxy(std::move(wishes));
  play::RawClient client = proxy.client();
  const std::string request = play::get(upstream.authority(), "/path?query", "Accept: */*\r\n");
  constexpr int rounds = 200;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(ask(client.socket().descriptor(), request, "the end of it"));
  const std::size_t before = allocations;
  for (int i = 0; i < rounds; ++i) EXPECT_TRUE(ask(client.socket().descriptor(), request, "the end of it"));
  const double each = static_cast<double>(allocations - before) / rounds;
  std::printf("GET over TLS: %.2f allocations a request\n", each);
  EXPECT_LT(each, 20);
}

/// Returns the live memory per connection of many connections that send `sent` and then stall.
std::size_t bytes_per_connection(std::string_view sent) {
  constexpr std::size_t connections = 50;
  play::RunningProxy proxy;
  std::vector<play::RawClient> clients;
  clients.reserve(connections);
  const auto stands_still = [] {
    const std::size_t now = live_bytes;
    play::yield_a_moment();
    return now == live_bytes;
  };
  play::eventually(stands_still);
  const std::size_t before = live_bytes;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.push_back(proxy.client());
    clients.back().send(sent);
  }
  play::eventually([&] { return proxy.metric("reprise_client_connections") == connections; });
  play::eventually(stands_still);
  const std::size_t after = live_bytes;
  return after > before ? (after - before) / connections : 0;
}

TEST(ProxyAllocation, I2_memory_per_connection_is_bounded_by_the_bytes_sent) {
  const std::string head = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n";
  for (const std::string& sent : {std::string(), head, head + "X: " + std::string(60'000, 'x')}) {
    const std::size_t each = bytes_per_connection(sent);
    std::printf("%zu bytes sent: %zu bytes live\n", sent.size(), each);
    EXPECT_LE(each, 4 * sent.size() + 64 * 1024);
  }
}

/// Makes the n-th allocation of the io thread fail, and then ends the process. The exit code is 0 if the next
/// client is served and the first client gets the right response, an error, or a visibly cut response.
[[noreturn]] void starve(std::size_t n) {
  const std::string body(3000, 'b');
  play::ScriptedUpstream upstream([&](play::Peer& peer) {
    peer.read_request();
    peer.send(play::response(200, body));
  });
  play::Wishes wishes;
  wishes.route.response_timeout = wishes.route.idle_timeout = std::chrono::milliseconds(500);
  wishes.turn = [](boost::asio::io_context& io) {
    starves = true;
    io.run();
  };
  play::RunningProxy proxy(std::move(wishes));
  play::RawClient starved = proxy.client();
  until_failure = n;
  starved.send(play::with_body("PUT", upstream.authority(), std::string(2000, 'u'), "Connection: close\r\n"));
  starved.socket().read_to_end();
  until_failure = 0;
  const std::string got(starved.socket().received());
  const std::size_t head = got.find("\r\n\r\n");
  const bool wrong =
      got.starts_with("HTTP/1.1 200") && head != std::string::npos && !body.starts_with(got.substr(head + 4));
  const bool goes_on = proxy.client().ask(play::get(upstream.authority(), "/")).body == body;
  std::_Exit(wrong || !goes_on ? 1 : 0);
}

bool went_on_or_aborted(int status) {
  return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
         (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(ProxyAllocation, I7_out_of_memory_ends_a_connection_or_aborts_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (std::size_t n = 1; n <= 60; n += n < 20 ? 1 : 5) {
    EXPECT_EXIT(starve(n), went_on_or_aborted, "") << n;
  }
}

}  // namespace
}  // namespace reprise::server
