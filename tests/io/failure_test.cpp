// Tests the table that maps error codes to causes.
#include "proxy/net/io/failure.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

using policy::Cause;

ErrorCode errno_code(int number) { return {number, boost::system::system_category()}; }

TEST(Failure, errors_of_an_established_connection_map_to_causes) {
  EXPECT_EQ(cause_of(asio::error::eof), Cause::closed);
  EXPECT_EQ(cause_of(asio::error::operation_aborted), Cause::cancelled);
  EXPECT_EQ(cause_of(errno_code(ECONNRESET)), Cause::reset);
  EXPECT_EQ(cause_of(errno_code(EPIPE)), Cause::reset);
  EXPECT_EQ(cause_of(errno_code(ETIMEDOUT)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(EHOSTUNREACH)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(ENETUNREACH)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(ENOMEM)), Cause::reset);
}

TEST(Failure, errors_of_a_dial_map_to_causes) {
  EXPECT_EQ(cause_of_dial(errno_code(ECONNREFUSED)), Cause::refused);
  EXPECT_EQ(cause_of_dial(errno_code(ETIMEDOUT)), Cause::connect_timeout);
  EXPECT_EQ(cause_of_dial(errno_code(ECONNRESET)), Cause::reset);
  EXPECT_EQ(cause_of_dial(errno_code(EHOSTUNREACH)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(errno_code(ENETUNREACH)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(errno_code(EACCES)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(asio::error::operation_aborted), Cause::cancelled);
}

TEST(Failure, I6_I10_exhausted_descriptors_and_local_ports_have_their_own_causes) {
  EXPECT_EQ(cause_of_dial(errno_code(EMFILE)), Cause::no_descriptor);
  EXPECT_EQ(cause_of_dial(errno_code(ENFILE)), Cause::no_descriptor);
  EXPECT_EQ(cause_of_dial(errno_code(EADDRNOTAVAIL)), Cause::no_local_port);
}

}  // namespace
}  // namespace reprise::net
