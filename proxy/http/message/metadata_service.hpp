// The addresses and the name of cloud metadata services, which clients must reach without a proxy.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace reprise::http {

/// The addresses of metadata services, in this order: AWS, Azure, Google and most others; ECS tasks; EKS Pod
/// Identity; AWS over IPv6; Alibaba Cloud; Oracle Cloud. The last entry is the host name of Google's service.
/// `security.deny` blocks the addresses by default (row N20), so every `no_proxy` should list them.
inline constexpr std::array<std::string_view, 7> metadata_services{
    "169.254.169.254", "169.254.170.2", "169.254.170.23",          "fd00:ec2::254",
    "100.100.100.200", "192.0.0.192",   "metadata.google.internal"};

/// Returns true if `host` is the address or name of a metadata service. `host` is in lower case, without
/// brackets and port.
constexpr bool is_metadata_service(std::string_view host) {
  return std::find(metadata_services.begin(), metadata_services.end(), host) != metadata_services.end();
}

}  // namespace reprise::http
