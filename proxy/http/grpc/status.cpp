#include "proxy/http/grpc/status.hpp"

#include "proxy/http/grpc/trailer_lines.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

using policy::GrpcStatus;

GrpcStatus parse_status(std::string_view value) {
  const std::optional<std::uint64_t> number = ascii::plain_decimal(value);
  return number && *number < policy::grpc_status_count ? static_cast<GrpcStatus>(*number)
                                                       : GrpcStatus::unknown;
}

/// Collects the values of grpc-status.
class StatusReading {
 public:
  void read(std::string_view name, std::string_view value) {
    if (!ascii::same(name, "grpc-status")) return;
    const GrpcStatus status = parse_status(value);
    status_ = status_.value_or(status) == status ? status : GrpcStatus::unknown;
  }
  std::optional<GrpcStatus> result() const { return status_; }

 private:
  std::optional<GrpcStatus> status_;
};

}  // namespace

std::optional<GrpcStatus> status_of(const std::vector<FieldLine>& fields) {
  StatusReading reading;
  for (const FieldLine& field : fields) reading.read(field.name, field.value);
  return reading.result();
}

std::optional<GrpcStatus> status_of(std::string_view trailer_lines) {
  StatusReading reading;
  for_each_trailer(trailer_lines,
                   [&](std::string_view name, std::string_view value) { reading.read(name, value); });
  return reading.result();
}

GrpcStatus status_of_http(int status) {
  switch (status) {
    case 400: return GrpcStatus::internal;
    case 401: return GrpcStatus::unauthenticated;
    case 403: return GrpcStatus::permission_denied;
    case 404: return GrpcStatus::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504: return GrpcStatus::unavailable;
    default: return GrpcStatus::unknown;
  }
}

}  // namespace reprise::http
