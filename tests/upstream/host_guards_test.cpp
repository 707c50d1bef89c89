// Tests the table of hosts with their circuits and pauses.
#include "proxy/net/upstream/host_guards.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace reprise::net {
namespace {

using namespace std::chrono_literals;

constexpr policy::Instant epoch{};
constexpr policy::CircuitPolicy quick{0.5, 10s, 1, 5s};

struct Number {
  int value = 0;
  bool in_hands = false;
  bool held() const { return in_hands; }
};

std::string hosts_of(const HostTable<Number>& table) {
  std::set<std::string> hosts;
  table.each([&](std::string_view host, const Number&) { hosts.emplace(host); });
  std::string text;
  for (const std::string& host : hosts) text += host + " ";
  return text;
}

TEST(HostTable, least_recently_used_host_is_evicted) {
  HostTable<Number> table(2);
  table.at("a:80").value = 1;
  table.at("b:80").value = 2;
  table.at("a:80").value += 10;
  table.at("c:80").value = 3;
  EXPECT_EQ(hosts_of(table), "a:80 c:80 ");
  EXPECT_EQ(table.at("a:80").value, 11);
  EXPECT_EQ(table.at("b:80").value, 0) << "b was forgotten and starts anew";
}

TEST(HostTable, L21_hosts_in_use_are_not_evicted_until_released) {
  HostTable<Number> table(2);
  for (const char* host : {"a", "b", "c"}) table.at(host).in_hands = true;
  EXPECT_EQ(hosts_of(table), "a b c ") << "all are held";
  for (const char* host : {"a", "b", "c"}) table.at(host).in_hands = false;
  table.at("d");
  EXPECT_EQ(hosts_of(table), "c d ");
}

TEST(HostTable, L21_host_released_first_is_evicted_first) {
  HostTable<Number> table(2);
  table.at("a");
  table.at("b");
  table.left("a");
  table.left("nobody");
  table.at("c");
  EXPECT_EQ(hosts_of(table), "a c ") << "a was in use for longer than b";
}

TEST(HostGuards, each_host_and_setting_has_its_own_circuit) {
  HostGuards host_guards(8);
  const auto circuit = host_guards.circuit("a:80", quick);
  EXPECT_EQ(host_guards.circuit("a:80", quick), circuit);
  EXPECT_NE(host_guards.circuit("a:81", quick), circuit);
  EXPECT_NE(host_guards.circuit("a:80", policy::CircuitPolicy{}), circuit);
}

TEST(HostGuards, each_host_has_its_own_pause) {
  HostGuards host_guards(8);
  host_guards.pause("a:80")->ask(epoch + 1s);
  EXPECT_EQ(host_guards.pause("a:80")->until(epoch), epoch + 1s);
  EXPECT_EQ(host_guards.pause("b:80")->until(epoch), std::nullopt);
}

TEST(HostGuards, every_circuit_is_reported_with_its_state) {
  HostGuards host_guards(8);
  host_guards.circuit("a:80", quick)->failed(epoch, epoch);
  host_guards.circuit("b:80", quick)->succeeded(epoch, epoch);
  host_guards.pause("c:80");
  std::string told;
  host_guards.each(epoch, [&](std::string_view host_port, policy::Circuit::State state) {
    if (state == policy::Circuit::State::open) told += std::string(host_port) + " open ";
    EXPECT_NE(host_port, "c:80") << "a pause is no circuit";
  });
  EXPECT_EQ(told, "a:80 open ");
}

TEST(HostGuards, only_current_pauses_are_reported_with_their_end) {
  HostGuards host_guards(8);
  host_guards.pause("a:80")->ask(epoch + 1s);
  host_guards.pause("b:80")->ask(epoch + 3s);
  host_guards.pause("c:80");
  host_guards.circuit("d:80", quick);
  std::string told;
  host_guards.each_pause(epoch + 2s, [&](std::string_view host_port, policy::Instant until) {
    told += host_port;
    EXPECT_EQ(until, epoch + 3s);
  });
  EXPECT_EQ(told, "b:80");
}

TEST(HostGuards, L21_circuit_and_pause_in_use_are_not_evicted) {
  HostGuards host_guards(2);
  const auto open = host_guards.circuit("a:80", quick);
  const auto paused = host_guards.pause("b:80");
  open->failed(epoch, epoch);
  for (int i = 0; i < 100; ++i) host_guards.circuit(std::to_string(i) + ":80", quick);
  EXPECT_EQ(host_guards.circuit("a:80", quick), open);
  EXPECT_EQ(host_guards.pause("b:80"), paused);
  int told = 0;
  host_guards.each(epoch, [&](std::string_view host, policy::Circuit::State state) {
    told += host == "a:80" && state == policy::Circuit::State::open ? 1 : 0;
  });
  EXPECT_EQ(told, 1) << "the gauge tells of the one that is in use";
}

TEST(HostGuards, number_of_circuits_stays_bounded) {
  HostGuards host_guards(10);
  for (int i = 0; i < 1000; ++i) host_guards.circuit(std::to_string(i) + ":80", quick);
  std::size_t circuits = 0;
  host_guards.each(epoch, [&](std::string_view, policy::Circuit::State) { ++circuits; });
  EXPECT_EQ(circuits, 10U);
}

}  // namespace
}  // namespace reprise::net
