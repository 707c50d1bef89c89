// The table of hosts, and the circuits and pauses in it.
#include "proxy/net/gates.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reprise::net {
namespace {

using namespace std::chrono_literals;

constexpr policy::Instant epoch{};
constexpr policy::CircuitPolicy quick{0.5, 10s, 1, 5s};

TEST(HostTable, ForgetsTheHostAskedForLongestAgo) {
  HostTable<int> table(2);
  table.at("a:80") = 1;
  table.at("b:80") = 2;
  table.at("a:80") += 10;
  table.at("c:80") = 3;
  std::size_t hosts = 0;
  table.each([&](std::string_view, int) { ++hosts; });
  EXPECT_EQ(hosts, 2U);
  EXPECT_EQ(table.at("a:80"), 11);
  EXPECT_EQ(table.at("b:80"), 0) << "b was forgotten and starts anew";
}

TEST(Gates, OneCircuitForEachHostAndSettings) {
  Gates gates(8);
  const auto circuit = gates.circuit("a:80", quick);
  EXPECT_EQ(gates.circuit("a:80", quick), circuit);
  EXPECT_NE(gates.circuit("a:81", quick), circuit);
  EXPECT_NE(gates.circuit("a:80", policy::CircuitPolicy{}), circuit);
}

TEST(Gates, OnePauseForEachHost) {
  Gates gates(8);
  gates.pause("a:80")->ask(epoch + 1s);
  EXPECT_EQ(gates.pause("a:80")->until(epoch), epoch + 1s);
  EXPECT_EQ(gates.pause("b:80")->until(epoch), std::nullopt);
}

TEST(Gates, EachTellsEveryCircuitAndItsState) {
  Gates gates(8);
  gates.circuit("a:80", quick)->failed(epoch, epoch);
  gates.circuit("b:80", quick)->succeeded(epoch, epoch);
  gates.pause("c:80");
  std::string told;
  gates.each(epoch, [&](std::string_view host_port, policy::Circuit::State state) {
    if (state == policy::Circuit::State::open) told += std::string(host_port) + " open ";
    EXPECT_NE(host_port, "c:80") << "a pause is no circuit";
  });
  EXPECT_EQ(told, "a:80 open ");
}

TEST(Gates, TrafficToManyHostsStaysBounded) {
  Gates gates(10);
  for (int i = 0; i < 1000; ++i) gates.circuit(std::to_string(i) + ":80", quick);
  std::size_t circuits = 0;
  gates.each(epoch, [&](std::string_view, policy::Circuit::State) { ++circuits; });
  EXPECT_EQ(circuits, 10U);
}

}  // namespace
}  // namespace reprise::net
