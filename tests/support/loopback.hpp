// For unit tests with sockets: an event loop that runs a coroutine to its end, and a stream connected to a
// raw socket.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/net/io/stream.hpp"
#include "tests/support/raw_socket.hpp"

namespace reprise::net {

using play::RawSocket;
using play::Wire;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Time limit of every wait, far above what any test needs on any machine.
inline constexpr seconds long_enough{120};

/// An io_context and its Tick (clock and timers), with functions that run it.
struct Bench {
  asio::io_context io{1};
  Tick tick{io};

  /// Runs handlers until the condition holds. Returns false if it does not hold within `long_enough`.
  template <typename Condition>
  bool run_until(Condition holds) {
    const Instant limit = Tick::now() + long_enough;
    while (!holds()) {
      if (Tick::now() > limit) return false;
      io.restart();
      io.run_one_for(milliseconds(10));
    }
    return true;
  }

  /// Starts the coroutine, and returns where its result will be.
  template <typename T>
  std::shared_ptr<std::optional<T>> start(Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    asio::co_spawn(io, std::move(task), [result](const std::exception_ptr& error, T value) {
      EXPECT_EQ(error, nullptr);
      *result = std::move(value);
    });
    return result;
  }

  /// Runs the coroutine and returns its result. If it does not end, fails the test and returns T{}.
  template <typename T>
  T run(Task<T> task) {
    const auto result = start(std::move(task));
    EXPECT_TRUE(run_until([&] { return result->has_value(); }));
    return result->has_value() ? std::move(**result) : T{};
  }
};

/// A Stream on the bench, and the other end of its connection.
struct Pair {
  std::unique_ptr<Stream> stream;
  RawSocket raw;
};

inline Pair connect_pair(Bench& bench) {
  tcp::acceptor acceptor(bench.io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  Pair pair;
  pair.raw = RawSocket::connect_to(acceptor.local_endpoint().port());
  pair.stream = std::make_unique<Stream>(bench.tick, acceptor.accept());
  return pair;
}

/// Waits until this many bytes, a FIN or an error can be read from the stream's socket. Returns false if a
/// time limit passes first.
inline bool has_arrived(Stream& stream, std::size_t bytes) {
  return play::eventually([&] {
    std::string room(bytes, '\0');
    const auto got = ::recv(stream.descriptor(), room.data(), bytes, MSG_PEEK | MSG_DONTWAIT);
    return got == static_cast<ssize_t>(bytes) || got == 0 || (got < 0 && errno != EAGAIN);
  });
}

}  // namespace reprise::net
