// Hosts that are reached without the parent proxy: `parent.except`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::net {

/// Immutable. Does not resolve names.
class ParentExceptions {
 public:
  ParentExceptions() = default;
  /// `texts`: the entries of `parent.except` in the settings.
  explicit ParentExceptions(std::vector<std::string> texts);

  /// Returns true if an entry matches the host. A network matches only a host that is written as an address,
  /// in any spelling (row H2).
  bool contains(const std::string& host) const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::vector<policy::HostPattern> names_;
  /// Filter that denies exactly the networks in `parent.except`; absent if `parent.except` has no network.
  std::optional<AddressFilter> networks_;
};

}  // namespace reprise::net
