#include "proxy/net/dial/own_dials.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

tcp::endpoint at(const char* address, std::uint16_t port) { return {asio::ip::make_address(address), port}; }

class OwnDialsTest : public testing::Test {
 protected:
  auto dial(const tcp::endpoint& local, const tcp::endpoint& remote) {
    return dials_.add(remote, [&] { return local; });
  }

  OwnDials dials_;
  const tcp::endpoint here_ = at("127.0.0.1", 4000);
  const tcp::endpoint there_ = at("127.0.0.2", 443);
};

TEST_F(OwnDialsTest, connection_of_reprise_itself_is_recognized_while_its_dial_is_registered) {
  EXPECT_FALSE(dials_.watched());
  dials_.watch();
  EXPECT_TRUE(dials_.watched());
  auto entry = dial(here_, there_);
  EXPECT_TRUE(dials_.has(here_, there_));
  EXPECT_TRUE(dials_.has(at("::ffff:127.0.0.1", 4000), at("::ffff:127.0.0.2", 443)))
      << "as a listener for both families sees it";
  EXPECT_FALSE(dials_.has(at("127.0.0.1", 4001), there_));
  EXPECT_FALSE(dials_.has(at("::1", 4000), there_));
  entry.reset();
  EXPECT_FALSE(dials_.has(here_, there_));
}

TEST_F(OwnDialsTest, same_local_port_with_another_destination_is_not_our_own_dial) {
  const auto entry = dial(here_, there_);
  EXPECT_FALSE(dials_.has(here_, at("127.0.0.3", 443)));
  EXPECT_FALSE(dials_.has(here_, at("127.0.0.2", 80)));
}

TEST_F(OwnDialsTest, two_dials_from_one_port_are_removed_independently) {
  const tcp::endpoint elsewhere = at("127.0.0.3", 443);
  auto first = dial(here_, there_);
  const auto second = dial(here_, elsewhere);
  first.reset();
  EXPECT_FALSE(dials_.has(here_, there_));
  EXPECT_TRUE(dials_.has(here_, elsewhere));
}

TEST_F(OwnDialsTest, dial_without_a_local_address_is_not_registered) {
  EXPECT_EQ(dial(tcp::endpoint(), there_), nullptr);
}

}  // namespace
}  // namespace reprise::net
