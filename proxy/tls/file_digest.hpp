// What files hold, as a short text that changes when any of them does.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace reprise::net {

/// SHA-256 over what each file holds; of one that cannot be read, over why; of a folder, over its entries'
/// names and when each was changed. Blocks: not for an io thread. What was read, keys too, is wiped from
/// memory.
std::string digest_of_files(std::span<const std::string> files);
/// The same of one file; nothing if there is no descriptor to read it by, which says nothing about the file.
std::optional<std::string> digest_of_file(const std::string& file);

}  // namespace reprise::net
