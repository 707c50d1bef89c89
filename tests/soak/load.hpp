// The load: clients with keep-alive connections that send requests at a steady rate. Each request ends as
// answered, cut or gone.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "tests/soak/ledger.hpp"
#include "tests/soak/upstream.hpp"

namespace reprise::soak {

using Clock = std::chrono::steady_clock;

struct LoadSettings {
  tcp::endpoint proxy;
  std::size_t clients = 256;
  std::uint64_t per_second = 2000;  ///< target rate of requests; a slow machine sends fewer
  Clock::duration length{};         ///< time during which new requests are started
  std::uint64_t most = 0;           ///< maximum number of requests; 0: no limit
};

/// Duration of a small request whose first attempt succeeded.
struct Sample {
  Clock::duration at;
  std::chrono::microseconds took;
};

class Load {
 public:
  Load(asio::io_context& io, Ledger& ledger, const Upstream& upstream, const LoadSettings& settings);
  /// Starts the clients and the timer that makes requests due.
  void start();
  /// Returns true once every started request has ended and every client has left.
  bool over() const { return paced_ && running_ == 0; }
  /// Closes the connection of each client that has waited for longer than any request may take. The requests
  /// of these clients count as lost.
  void give_up_on_the_stuck();
  std::uint64_t started() const { return started_; }
  std::uint64_t given_up() const { return given_up_; }
  /// Returns the longest delay of the pacing timer, which shows how slow this process was, as opposed to
  /// reprise.
  Clock::duration worst_stall() const { return worst_stall_; }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  /// One client: its connection, and the time since which it has been busy.
  struct Seat {
    explicit Seat(asio::io_context& io) : nudge(io, Clock::time_point::max()) {}
    asio::steady_timer nudge;
    std::unique_ptr<Wire> line;
    Clock::time_point busy_since = Clock::time_point::max();
    std::uint64_t number = 0;  ///< request that the client carries out
  };
  Task<void> pace();
  Task<void> work(Seat& seat);
  Task<bool> seat_down(Seat& seat);
  void issue();

  asio::io_context& io_;
  Ledger& ledger_;
  const Upstream& upstream_;
  const LoadSettings settings_;
  std::deque<std::uint64_t> waiting_;  ///< requests that no client has taken yet
  std::list<Seat> seats_;
  std::vector<asio::steady_timer*> idle_;
  std::vector<Sample> samples_;
  Clock::time_point begin_;
  Clock::duration worst_stall_{};
  std::uint64_t started_ = 0;
  std::uint64_t given_up_ = 0;
  std::size_t running_ = 0;
  bool paced_ = false;
};

}  // namespace reprise::soak
