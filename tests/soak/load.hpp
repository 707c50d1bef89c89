// The clients: so many keep-alive connections, fed at a
// steady rate, each request ending as answered, cut or gone.
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
  std::uint64_t per_second = 2000;  ///< a target: a slower machine gets fewer
  Clock::duration length{};         ///< how long requests are started
  std::uint64_t most = 0;           ///< requests in all; 0: as many as fit
};

/// A request that went through untouched, and how long it took.
struct Sample {
  Clock::duration at;
  std::chrono::microseconds took;
};

class Load {
 public:
  Load(asio::io_context& io, Ledger& ledger, const Upstream& upstream, const LoadSettings& settings);
  /// Starts clients and pace.
  void start();
  /// True once every request that was started has ended and every client has left.
  bool over() const { return paced_ && running_ == 0; }
  /// Ends clients that have waited for longer than anything may take; their requests count as lost.
  void give_up_on_the_stuck();
  std::uint64_t started() const { return started_; }
  std::uint64_t given_up() const { return given_up_; }
  /// How late the pace has woken at worst: what this side, and not reprise, was slow by.
  Clock::duration worst_stall() const { return worst_stall_; }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  /// A client's place: its connection, and since when it has been busy.
  struct Seat {
    explicit Seat(asio::io_context& io) : nudge(io, Clock::time_point::max()) {}
    asio::steady_timer nudge;
    std::unique_ptr<Wire> line;
    Clock::time_point busy_since = Clock::time_point::max();
    std::uint64_t number = 0;  ///< what it is busy with
  };
  Task<void> pace();
  Task<void> work(Seat& seat);
  Task<bool> seat_down(Seat& seat);
  void issue();

  asio::io_context& io_;
  Ledger& ledger_;
  const Upstream& upstream_;
  const LoadSettings settings_;
  std::deque<std::uint64_t> waiting_;  ///< numbers that no client has taken yet
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
