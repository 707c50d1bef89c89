// The address of an attempt's upstream: an IP address and a port, as a value that needs no sockets.
#pragma once

#include <array>
#include <cstdint>

namespace reprise::policy {

struct UpstreamAddress {
  enum class Family : std::uint8_t { none, v4, v6 };

  std::array<std::uint8_t, 16> bytes{};  ///< the address in network order; IPv4 uses the first four bytes
  std::uint16_t port = 0;
  Family family = Family::none;  ///< `none` if no address was dialled

  bool known() const { return family != Family::none; }
  /// Returns true for 127.0.0.0/8 or ::1.
  bool is_loopback() const {
    if (family == Family::v4) return bytes[0] == 127;
    constexpr std::array<std::uint8_t, 16> one{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return family == Family::v6 && bytes == one;
  }
  bool operator==(const UpstreamAddress&) const = default;
};

}  // namespace reprise::policy
