// Reads the service config of a gRPC client (gRPC A6) as a policy to compare with.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/policy/decision/route.hpp"
#include "proxy/tools/simulate/run.hpp"

namespace reprise::tools {

struct ServiceConfig {
  /// One route for each name of a `methodConfig`, the most specific names first.
  std::vector<policy::Route> routes;
  std::vector<std::string> sentences;  ///< what each entry of `methodConfig` allows
  std::string throttling;              ///< what `retryThrottling` allows; empty if it is absent
  std::vector<std::string> notes;      ///< parts that the simulation treats in another way than gRPC
};

/// The reason why a service config cannot be read.
struct ServiceConfigFault {
  std::size_t line = 0;  ///< counted from 1; 0 if the text is JSON, and `key` names the place
  std::size_t column = 0;
  std::string key;  ///< such as `methodConfig[0].retryPolicy.maxAttempts`
  std::string why;
};

/// Reads a service config in JSON. Ignores keys that have nothing to do with retries, as gRPC does.
std::variant<ServiceConfig, ServiceConfigFault> read_service_config(std::string_view text);

/// Returns the message of the fault, with the place in `file`.
std::string to_line(const ServiceConfigFault&, const std::string& file);

/// Returns the policy that a client with this service config follows. Requests that it does not name are sent
/// once. A client spends no budget of reprise; `throttling` is not simulated.
Subject subject_of(const ServiceConfig&);

}  // namespace reprise::tools
