// What descriptors this process has open, for tests that look for leaks.
#pragma once

#include <cstddef>

namespace reprise::play {

/// Open descriptors of this process. Pipes without close-on-exec are not counted: they are not ours.
std::size_t open_descriptors();
/// Those of them that are ends of pipes.
std::size_t open_pipe_ends();

}  // namespace reprise::play
