// Counts the open descriptors of this process, for tests that look for leaks.
#pragma once

#include <cstddef>

namespace reprise::play {

/// Counts the open descriptors. Does not count pipes without close-on-exec, because a sanitizer opens those.
std::size_t open_descriptors();
/// Counts the open pipe ends. Does not count pipes without close-on-exec, because a sanitizer opens those.
std::size_t open_pipe_ends();

}  // namespace reprise::play
