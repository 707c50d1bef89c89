// The order in which a name's addresses are dialled: families by turns (RFC 8305 section 4).
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// Begins with the first one's family, keeps the order within each, and goes on with what is left once one
/// family is spent. At most `most` of them.
std::vector<asio::ip::address> interleaved(const std::vector<asio::ip::address>& found, std::size_t most);

}  // namespace reprise::net
