// Counts the open descriptors of this process, for tests that look for leaks.
#pragma once

#include <cstddef>

namespace reprise::play {

/// Counts the open descriptors. Does not count pipes without close-on-exec: those are a sanitizer's.
std::size_t open_descriptors();
/// Counts those of them that are ends of pipes.
std::size_t open_pipe_ends();

}  // namespace reprise::play
