// What files hold, as a short text that changes when any of them does.
#pragma once

#include <span>
#include <string>

namespace reprise::net {

/// SHA-256 over what each file holds; of one that cannot be read, over why; of a folder, over its entries'
/// names and when each was changed. Blocks: not for an io thread. What was read, keys too, is wiped from
/// memory.
std::string digest_of_files(std::span<const std::string> files);

}  // namespace reprise::net
