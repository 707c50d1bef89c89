// In what order the addresses of a name are dialled: each first in its turn, and those that failed last.
#pragma once

#include <span>
#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/upstream_address.hpp"

namespace reprise::net {

/// What the order depends on besides the name's own order.
struct AddressOrder {
  unsigned turn = 0;                                 ///< counts the dials of an upstream, from 0
  std::span<const policy::UpstreamAddress> tried{};  ///< where the request has been already
  bool tried_first = false;                          ///< a resume: the rest comes from where the body began
};

/// Each family starts at another of its addresses each turn, and keeps its places among the other family's
/// (row N2). Then those that were tried go last, so that a retry leaves an address that failed (row N1), or
/// first for a resume.
void arrange(std::vector<tcp::endpoint>& endpoints, const AddressOrder&);

}  // namespace reprise::net
