// Hosts that are reached without the parent proxy: `parent.except`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::net {

/// Immutable. Resolves no names.
class ParentExceptions {
 public:
  ParentExceptions() = default;
  /// `texts` is Parent::except of the settings.
  explicit ParentExceptions(std::vector<std::string> texts);

  /// Returns whether a text names the host. A network matches a host that is written as an address, in
  /// whatever spelling (row H2), and no name.
  bool contains(const std::string& host) const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::vector<policy::HostPattern> names_;
  std::optional<AddressFilter> networks_;  ///< denies exactly the listed addresses; absent if none is listed
};

}  // namespace reprise::net
