// Tests which connection is evicted for a new client: the connection that has been idle longest, but never a
// connection that was busy a moment ago.
#include "proxy/forward/worker/idle_clients.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace reprise::forward {
namespace {

constexpr Instant start{std::chrono::hours(1)};
constexpr Duration least = std::chrono::seconds(1);
constexpr Instant much_later = start + std::chrono::hours(1);

class Client final : public IdleClient {
 public:
  explicit Client(std::vector<int>& closed, int name) : closed_(closed), name_(name) {}
  bool has_pending_request = false;

 protected:
  bool close_for_room() override {
    if (has_pending_request) return false;
    closed_.push_back(name_);
    return true;
  }

 private:
  std::vector<int>& closed_;
  int name_;
};

using Membership = IdleClients::Membership;

class RestingTest : public ::testing::Test {
 protected:
  std::vector<int> closed;
  IdleClients clients{least};
  Client one{closed, 1};
  Client two{closed, 2};
  Client three{closed, 3};
};

TEST_F(RestingTest, I6_no_client_is_evicted_if_none_is_idle) { EXPECT_FALSE(clients.make_room(much_later)); }

TEST_F(RestingTest, I6_longest_idle_client_is_evicted_first) {
  const Membership first(clients, two, start);
  const Membership second(clients, one, start + std::chrono::seconds(1));
  const Membership third(clients, three, start + std::chrono::seconds(2));
  EXPECT_TRUE(clients.make_room(much_later));
  EXPECT_TRUE(clients.make_room(much_later));
  EXPECT_TRUE(clients.make_room(much_later));
  EXPECT_FALSE(clients.make_room(much_later));
  EXPECT_EQ(closed, (std::vector{2, 1, 3}));
}

TEST_F(RestingTest, I6_client_busy_a_moment_ago_is_not_evicted) {
  const Membership stay(clients, one, start);
  EXPECT_FALSE(clients.make_room(start + least - Duration(1)));
  EXPECT_TRUE(clients.make_room(start + least));
}

TEST_F(RestingTest, I6_client_with_a_pending_request_is_not_evicted) {
  const Membership first(clients, one, start);
  const Membership second(clients, two, start);
  one.has_pending_request = true;
  EXPECT_TRUE(clients.make_room(much_later));
  EXPECT_EQ(closed, std::vector{2});
  EXPECT_FALSE(clients.make_room(much_later));
}

TEST_F(RestingTest, departed_client_is_never_evicted) {
  Membership first(clients, one, start);
  {
    Membership second(clients, two, start);
    const Membership third(clients, three, start);
    second.end();
  }
  const Membership again(clients, two, start);
  first.end();
  EXPECT_TRUE(clients.make_room(much_later));
  EXPECT_FALSE(clients.make_room(much_later));
  EXPECT_EQ(closed, std::vector{2});
}

}  // namespace
}  // namespace reprise::forward
