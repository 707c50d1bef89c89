// Decides the order in which the addresses of a name are dialled: rotated between dials, failed addresses
// last.
#pragma once

#include <span>
#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/upstream_address.hpp"

namespace reprise::net {

/// Inputs to the order, besides the order that the resolver returned.
struct AddressOrder {
  unsigned turn = 0;                                 ///< number of dials of this upstream so far
  std::span<const policy::UpstreamAddress> tried{};  ///< addresses that this request has used already
  bool tried_first = false;  ///< true for a resumed download, which prefers the address used before
};

/// Rotates the addresses of each family by `turn`; each place in the list keeps its address family (row N2).
/// Then moves the addresses in `tried` to the end, so that a retry tries other addresses first (row N1). For
/// a resumed download, moves the addresses in `tried` to the front instead.
void arrange(std::vector<tcp::endpoint>& endpoints, const AddressOrder&);

}  // namespace reprise::net
