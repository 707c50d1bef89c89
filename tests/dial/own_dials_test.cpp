#include "proxy/dial/own_dials.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

tcp::endpoint at(const char* address, std::uint16_t port) { return {asio::ip::make_address(address), port}; }

TEST(OwnDialsTest, AnAddressIsOursWhileItsDialLives) {
  OwnDials dials;
  EXPECT_FALSE(dials.watched());
  dials.watch();
  EXPECT_TRUE(dials.watched());
  auto entry = dials.add([] { return at("127.0.0.1", 4000); });
  EXPECT_TRUE(dials.has(at("127.0.0.1", 4000)));
  EXPECT_TRUE(dials.has(at("::ffff:127.0.0.1", 4000))) << "as a listener for both families sees it";
  EXPECT_FALSE(dials.has(at("127.0.0.1", 4001)));
  EXPECT_FALSE(dials.has(at("::1", 4000)));
  entry.reset();
  EXPECT_FALSE(dials.has(at("127.0.0.1", 4000)));
}

TEST(OwnDialsTest, ADialThatDoesNotGoOutIsNobodys) {
  OwnDials dials;
  EXPECT_EQ(dials.add([] { return tcp::endpoint(); }), nullptr);
}

}  // namespace
}  // namespace reprise::net
