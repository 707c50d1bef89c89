// Tests ListenerSet: a reload keeps, adds and removes listeners; sockets of a service manager are taken over.
#include "proxy/server/process/listener_set.hpp"

#include <unistd.h>

#include "tests/support/running_proxy.hpp"

namespace reprise::server::listener_set_test {
namespace {

config::Settings listening_at(std::vector<std::uint16_t> ports) {
  config::Settings settings = play::whole({});
  settings.listeners.clear();
  for (const std::uint16_t port : ports) {
    config::Listener listener;
    listener.bind.port = port;
    settings.listeners.push_back(listener);
  }
  return settings;
}

class ListenerSetTest : public testing::Test {
 protected:
  ListenerSet bind(const config::Settings& settings, const ListenerSet* before = nullptr) {
    return ListenerSet::bind(settings, binding_, before, inherited_);
  }

  asio::io_context binding_;
  std::vector<net::InheritedSocket> inherited_;
};

TEST_F(ListenerSetTest, listeners_in_both_configurations_keep_their_socket) {
  const ListenerSet first = bind(listening_at({0, 0}));
  ASSERT_EQ(first.all().size(), 3U) << "two, and the admin listener";
  EXPECT_NE(first.all()[0]->endpoint.port(), first.all()[1]->endpoint.port()) << "each port 0 is another";
  EXPECT_TRUE(first.admin().is_admin);
  const ListenerSet next = bind(listening_at({0}), &first);
  ASSERT_EQ(next.all().size(), 2U);
  EXPECT_EQ(next.all()[0], first.all()[0]);
  EXPECT_TRUE(next.has(first.admin()));
  EXPECT_FALSE(next.has(*first.all()[1]));
  EXPECT_EQ(next.endpoints().front(), first.endpoints().front());
}

TEST_F(ListenerSetTest, admin_listener_can_be_removed_and_added_by_a_reload) {
  config::Settings without = listening_at({0});
  without.admin.bind = {"", 0};
  const ListenerSet first = bind(without);
  EXPECT_FALSE(first.has_admin());
  EXPECT_EQ(first.all().size(), 1U);
  const ListenerSet next = bind(listening_at({0}), &first);
  EXPECT_TRUE(next.has_admin());
  EXPECT_EQ(next.all().front(), first.all().front());
  EXPECT_FALSE(bind(without, &next).has_admin());
}

TEST_F(ListenerSetTest, client_port_cannot_become_the_admin_port) {
  config::Settings settings = listening_at({0});
  const ListenerSet first = bind(settings);
  // The admin and client listeners swap ports. Neither socket may be reused in the other role.
  config::Settings swapped = listening_at({first.admin().endpoint.port()});
  swapped.admin.bind.port = first.all()[0]->endpoint.port();
  EXPECT_THROW(bind(swapped, &first), forward::BindError);
}

config::Settings at(std::string address, std::uint16_t port) {
  config::Settings settings = listening_at({port});
  settings.listeners.front().bind.address = std::move(address);
  return settings;
}

TEST_F(ListenerSetTest, listener_moves_to_another_address_at_the_same_port_and_back) {
  std::optional<ListenerSet> before = bind(listening_at({0}));
  const std::uint16_t port = before->all().front()->endpoint.port();
  EXPECT_THROW(bind(at("0.0.0.0", port), &*before), forward::BindError) << "it is not lent";
  for (const std::string_view address : {"0.0.0.0", "127.0.0.1"}) {
    const config::Settings wanted = at(std::string(address), port);
    const auto moved = before->moved_by(wanted);
    ASSERT_EQ(moved, std::vector{before->all().front()}) << address;
    forward::lend_port(*moved.front()->bound, forward::Port::lent);
    ListenerSet next = bind(wanted, &*before);
    EXPECT_EQ(next.all().front()->endpoint, tcp::endpoint(asio::ip::make_address(address), port));
    EXPECT_THROW(bind(wanted), forward::BindError) << "it is nobody else's";
    EXPECT_TRUE(next.moved_by(wanted).empty());
    before = std::move(next);
  }
}

TEST_F(ListenerSetTest, bind_to_all_addresses_fails_on_the_port_of_a_listener_that_is_kept) {
  const ListenerSet before = bind(listening_at({0}));
  config::Settings more = listening_at({0});
  more.listeners.push_back(at("0.0.0.0", before.all().front()->endpoint.port()).listeners.front());
  EXPECT_TRUE(before.moved_by(more).empty());
  EXPECT_THROW(bind(more, &before), forward::BindError) << "one address holds the other, and both are wanted";
}

TEST_F(ListenerSetTest, port_in_use_is_named_in_the_error_and_no_listener_is_bound) {
  const ListenerSet first = bind(listening_at({0}));
  const std::uint16_t taken = first.all()[0]->endpoint.port();
  try {
    static_cast<void>(bind(listening_at({taken})));
    FAIL() << "it was bound twice";
  } catch (const forward::BindError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("forward 127.0.0.1:" + std::to_string(taken)), std::string::npos) << what;
    EXPECT_NE(what.find("choose another port, or stop the program that uses it"), std::string::npos) << what;
  }
  config::Settings foreign = listening_at({0});
  foreign.listeners.front().bind.address = "192.0.2.1";
  try {
    static_cast<void>(bind(foreign));
    FAIL() << "it was bound";
  } catch (const forward::BindError& error) {
    EXPECT_NE(std::string_view(error.what()).find("no network interface of this host has that address"),
              std::string_view::npos)
        << error.what();
  }
}

TEST_F(ListenerSetTest, socket_passed_by_a_service_manager_is_taken_from_the_list_when_it_is_used) {
  tcp::acceptor passed = forward::bind_listener(binding_, "forward", {"127.0.0.1", 0});
  const tcp::endpoint where = passed.local_endpoint();
  inherited_.push_back({where, passed.release()});
  const ListenerSet set = bind(listening_at({where.port()}));
  EXPECT_TRUE(inherited_.empty());
  EXPECT_EQ(set.all().front()->endpoint, where);
}

}  // namespace
}  // namespace reprise::server::listener_set_test
