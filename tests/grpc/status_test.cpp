// Tests how the status of a call is read from a head, from trailers and from an HTTP status.
#include "proxy/http/grpc/status.hpp"

#include <gtest/gtest.h>

#include "tests/grpc/field_lists.hpp"

namespace reprise::http {
namespace {

using policy::GrpcStatus;
using std::string;

std::optional<GrpcStatus> status(const NamedValues& values) {
  const auto of_head = status_of(head_fields(values));
  EXPECT_EQ(status_of(trailer_lines(values)), of_head);
  return of_head;
}

TEST(CallStatus, M74_every_number_from_0_to_16_is_its_status) {
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i)
    EXPECT_EQ(status({{"grpc-status", std::to_string(i)}}), static_cast<GrpcStatus>(i)) << i;
  EXPECT_EQ(status({{"x", "1"}, {"Grpc-Status", "14"}, {"grpc-message", "busy"}}), GrpcStatus::unavailable);
}

TEST(CallStatus, M74_value_that_is_not_a_number_up_to_16_is_unknown) {
  for (const string value : {"17", "255", "4294967296", "18446744073709551616", "-1", "+1", "-0", "00", "01",
                             "014", "1.0", "1,1", "0x1", "", "ok", "0 0", "1\t2"})
    EXPECT_EQ(status({{"grpc-status", value}}), GrpcStatus::unknown) << value;
}

TEST(CallStatus, M74_missing_status_is_nothing) {
  EXPECT_EQ(status({}), std::nullopt);
  EXPECT_EQ(status({{"grpc-statu", "0"}, {"grpc-status-details-bin", "AA"}, {"status", "0"}}), std::nullopt);
}

TEST(CallStatus, M74_repeated_status_is_unknown_unless_all_values_are_the_same) {
  EXPECT_EQ(status({{"grpc-status", "5"}, {"grpc-status", "5"}}), GrpcStatus::not_found);
  EXPECT_EQ(status({{"grpc-status", "0"}, {"grpc-status", "5"}}), GrpcStatus::unknown);
  EXPECT_EQ(status({{"grpc-status", "0"}, {"grpc-status", "00"}}), GrpcStatus::unknown);
  EXPECT_EQ(status({{"grpc-status", "0"}, {"grpc-status", "5"}, {"grpc-status", "5"}}), GrpcStatus::unknown);
  EXPECT_EQ(status({{"grpc-status", "0"}, {"grpc-status", "5"}, {"grpc-status", "0"}}), GrpcStatus::unknown);
}

TEST(CallStatus, trailer_lines_are_read_whatever_their_blanks_and_ends) {
  EXPECT_EQ(status_of(std::string_view("grpc-status:7\r\n")), GrpcStatus::permission_denied);
  EXPECT_EQ(status_of(std::string_view("grpc-status:\t 7 \t\r\n")), GrpcStatus::permission_denied);
  EXPECT_EQ(status_of(std::string_view("x: y\r\ngrpc-status: 7")), GrpcStatus::permission_denied);
  EXPECT_EQ(status_of(std::string_view("grpc-status\r\n\r\n:\r\ngrpc-status: 7\r\n")),
            GrpcStatus::permission_denied);
  EXPECT_EQ(status_of(std::string_view("grpc-status 7\r\n")), std::nullopt);
  EXPECT_EQ(status_of(std::string_view("x: grpc-status: 7\r\n")), std::nullopt);
  EXPECT_EQ(status_of(std::string_view("grpc-status: 7\r")), GrpcStatus::unknown);
}

TEST(CallStatus, M74_http_status_stands_for_a_grpc_status) {
  const std::pair<int, GrpcStatus> expected[] = {
      {200, GrpcStatus::unknown},           {204, GrpcStatus::unknown},
      {302, GrpcStatus::unknown},           {400, GrpcStatus::internal},
      {401, GrpcStatus::unauthenticated},   {402, GrpcStatus::unknown},
      {403, GrpcStatus::permission_denied}, {404, GrpcStatus::unimplemented},
      {405, GrpcStatus::unknown},           {428, GrpcStatus::unknown},
      {429, GrpcStatus::unavailable},       {430, GrpcStatus::unknown},
      {500, GrpcStatus::unknown},           {501, GrpcStatus::unknown},
      {502, GrpcStatus::unavailable},       {503, GrpcStatus::unavailable},
      {504, GrpcStatus::unavailable},       {505, GrpcStatus::unknown}};
  for (const auto& [http, grpc] : expected) EXPECT_EQ(status_of_http(http), grpc) << http;
}

}  // namespace
}  // namespace reprise::http
