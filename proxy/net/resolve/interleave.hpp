// Orders a name's addresses for dialling: the address families alternate (RFC 8305 section 4).
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/net/io/task.hpp"

namespace reprise::net {

/// Returns at most `most` addresses, starting with the family of the first address. Keeps the order within
/// each family. When one family is used up, the remaining addresses of the other family follow.
std::vector<asio::ip::address> interleaved(const std::vector<asio::ip::address>& found, std::size_t most);

}  // namespace reprise::net
