// Where an attempt went: an IP address and a port, as a value that needs no sockets.
#pragma once

#include <array>
#include <cstdint>

namespace reprise::policy {

struct UpstreamAddress {
  enum class Family : std::uint8_t { none, v4, v6 };

  std::array<std::uint8_t, 16> bytes{};  ///< in network order; of IPv4 the first four
  std::uint16_t port = 0;
  Family family = Family::none;  ///< none: nothing was dialled

  bool known() const { return family != Family::none; }
  bool operator==(const UpstreamAddress&) const = default;
};

}  // namespace reprise::policy
