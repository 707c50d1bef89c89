// The table from error codes to causes.
#include "proxy/net/io/failure.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

using policy::Cause;

ErrorCode errno_code(int number) { return {number, boost::system::system_category()}; }

TEST(Failure, what_ends_a_connection_that_stood) {
  EXPECT_EQ(cause_of(asio::error::eof), Cause::closed);
  EXPECT_EQ(cause_of(asio::error::operation_aborted), Cause::cancelled);
  EXPECT_EQ(cause_of(errno_code(ECONNRESET)), Cause::reset);
  EXPECT_EQ(cause_of(errno_code(EPIPE)), Cause::reset);
  EXPECT_EQ(cause_of(errno_code(ETIMEDOUT)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(EHOSTUNREACH)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(ENETUNREACH)), Cause::keepalive_lost);
  EXPECT_EQ(cause_of(errno_code(ENOMEM)), Cause::reset);
}

TEST(Failure, what_keeps_a_connection_from_standing) {
  EXPECT_EQ(cause_of_dial(errno_code(ECONNREFUSED)), Cause::refused);
  EXPECT_EQ(cause_of_dial(errno_code(ETIMEDOUT)), Cause::connect_timeout);
  EXPECT_EQ(cause_of_dial(errno_code(ECONNRESET)), Cause::reset);
  EXPECT_EQ(cause_of_dial(errno_code(EHOSTUNREACH)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(errno_code(ENETUNREACH)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(errno_code(EACCES)), Cause::unreachable);
  EXPECT_EQ(cause_of_dial(asio::error::operation_aborted), Cause::cancelled);
}

TEST(Failure, I6_I10_descriptors_and_ports_of_this_host_have_causes_of_their_own) {
  EXPECT_EQ(cause_of_dial(errno_code(EMFILE)), Cause::no_descriptor);
  EXPECT_EQ(cause_of_dial(errno_code(ENFILE)), Cause::no_descriptor);
  EXPECT_EQ(cause_of_dial(errno_code(EADDRNOTAVAIL)), Cause::no_local_port);
}

}  // namespace
}  // namespace reprise::net
