// Replaces functions of libnghttp2 in programs that play stories, so that a story can lower the window of the
// proxy's HTTP/2 connections. The product's window is so large that no story would use it up.
#pragma once

#include <cstdint>

namespace reprise::simulation {

struct Http2Windows {
  std::uint32_t connection = 0;  ///< window of the connection; 0: as the product asks
  bool keeps = false;  ///< Canary::kept_window: received bytes do not reopen the connection's window
};

/// Applies to connections of this thread.
extern thread_local Http2Windows http2_windows;

}  // namespace reprise::simulation
