// The soak: a failing upstream and hundreds of clients around a running reprise, with a ledger that must
// match its counters. Run by tests/soak.sh.

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>

#include "tests/soak/verdict.hpp"

namespace reprise::soak {
namespace {

struct Options {
  Mix mix;
  std::uint16_t forward = 0;
  std::uint16_t admin = 0;
  pid_t process = 0;
  double minutes = 2;
  std::uint64_t lost_posts = 0;
  LoadSettings load;
  std::string figures;
};

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

// Waits until reprise has no open connection, for at most 240 seconds.
Task<void> wait_for_rest(const Options& options) {
  constexpr int patience = 240;
  for (int second = 0; second < patience; ++second) {
    const Exposition metrics = co_await fetch_metrics(loopback(options.admin));
    if (metrics.sum("reprise_client_connections") + metrics.sum("reprise_upstream_connections") == 0)
      co_return;
    co_await pause(1000);
  }
}

// Samples the process once it is idle. The pause of half a second leaves the connection of the last metrics
// request time to close.
Task<ProcessSample> look_at_rest(const Options& options) {
  co_await wait_for_rest(options);
  co_await pause(500);
  co_return look_at(options.process);
}

Task<void> run(asio::io_context& io, const Options& options, bool& right) {
  Ledger ledger(options.mix);
  Upstream upstream(io, ledger);
  upstream.start();
  Observed observed{Exposition(""), {}, co_await look_at_rest(options), {}, options.minutes, 0};
  Load load(io, ledger, upstream, options.load);
  const auto begin = Clock::now();
  load.start();
  while (!load.over()) {
    co_await pause(1000);
    if (Clock::now() - begin < options.load.length) observed.samples.push_back(look_at(options.process));
    load.give_up_on_the_stuck();
  }
  observed.minutes = std::chrono::duration<double>(Clock::now() - begin).count() / 60;
  observed.after = co_await look_at_rest(options);
  observed.metrics = co_await fetch_metrics(loopback(options.admin));
  observed.flaps = upstream.flaps();
  upstream.stop();
  Judgement judgement(ledger, load, observed);
  right = judgement.print();
  if (!options.figures.empty()) std::ofstream(options.figures) << judgement.figures();
  io.stop();
}

int soak(Options options) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  options.mix.lost_posts = options.lost_posts > 0;
  options.load.proxy = loopback(options.forward);
  options.load.length = std::chrono::milliseconds(static_cast<std::int64_t>(options.minutes * 60'000));
  // With `lost_posts`, every second request is a POST whose response is lost.
  options.load.most = 2 * options.lost_posts;
  asio::io_context io(1);
  bool right = false;
  std::exception_ptr failure;
  asio::co_spawn(io, run(io, options, right), [&](std::exception_ptr thrown) {
    failure = thrown;
    io.stop();
  });
  io.run();
  if (failure) std::rethrow_exception(failure);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace reprise::soak

int main(int count, char** words) {
  reprise::soak::Options options;
  CLI::App app(
      "A soak of a running reprise: failing upstream and clients in one, with a ledger that must add up.");
  app.add_option("--forward", options.forward, "port of its forward listener")->required();
  app.add_option("--admin", options.admin, "port of its admin listener")->required();
  app.add_option("--pid", options.process, "its process")->required();
  app.add_option("--seed", options.mix.seed, "of every draw");
  app.add_option("--minutes", options.minutes, "how long requests are started");
  app.add_option("--rate", options.load.per_second, "requests a second");
  app.add_option("--clients", options.load.clients, "connections");
  app.add_option("--lost-posts", options.lost_posts,
                 "only so many POSTs that take effect and are never answered");
  app.add_option("--figures", options.figures, "a file for the figures, JSON");
  CLI11_PARSE(app, count, words);
  try {
    return reprise::soak::soak(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 1;
  }
}
