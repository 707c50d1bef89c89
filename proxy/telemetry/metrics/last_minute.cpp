#include "proxy/telemetry/metrics/last_minute.hpp"

#include <algorithm>
#include <functional>

namespace reprise::telemetry {
namespace {

template <typename Operation>
RouteNumbers combined(const RouteNumbers& one, const RouteNumbers& other, Operation operation) {
  RouteNumbers result{operation(one.requests, other.requests),
                      operation(one.failed, other.failed),
                      operation(one.client_gone, other.client_gone),
                      operation(one.retries, other.retries),
                      operation(one.recovered, other.recovered),
                      operation(one.refused, other.refused),
                      {}};
  std::transform(one.durations.begin(), one.durations.end(), other.durations.begin(),
                 result.durations.begin(), operation);
  return result;
}

}  // namespace

RouteNumbers operator+(const RouteNumbers& one, const RouteNumbers& other) {
  return combined(one, other, std::plus<std::uint32_t>());
}

RouteNumbers operator-(const RouteNumbers& one, const RouteNumbers& other) {
  return combined(one, other, std::minus<std::uint32_t>());
}

AttemptNumbers operator+(AttemptNumbers one, const AttemptNumbers& other) {
  return {one.attempts + other.attempts, one.failed + other.failed};
}

AttemptNumbers operator-(AttemptNumbers one, const AttemptNumbers& other) {
  return {one.attempts - other.attempts, one.failed - other.failed};
}

}  // namespace reprise::telemetry
