// What stands at each byte of each body: a function of the request's number and the offset, so that every
// byte can be checked by both ends and nobody stores a body.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::soak {

/// The content of `number` from `offset` on: at most `most`
/// bytes, and at least one of them if `most` is not 0.
std::string_view content(std::uint64_t number, std::uint64_t offset, std::uint64_t most);

/// True if `piece` is what stands there.
bool is_content(std::uint64_t number, std::uint64_t offset, std::string_view piece);

}  // namespace reprise::soak
