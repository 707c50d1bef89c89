// Addresses and the name of the metadata services of clouds, which clients must reach without a proxy.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace reprise::http {

/// AWS, Azure and Google (and most others), ECS tasks, EKS Pod Identity, AWS over IPv6, Alibaba Cloud, Oracle
/// Cloud, and Google's name. `security.deny` refuses these addresses by default (row N20), so that they
/// belong into every `no_proxy`.
inline constexpr std::array<std::string_view, 7> metadata_services{
    "169.254.169.254", "169.254.170.2", "169.254.170.23",          "fd00:ec2::254",
    "100.100.100.200", "192.0.0.192",   "metadata.google.internal"};

/// `host`: lower case, without brackets and port.
constexpr bool is_metadata_service(std::string_view host) {
  return std::find(metadata_services.begin(), metadata_services.end(), host) != metadata_services.end();
}

}  // namespace reprise::http
