// Detects whether standard error leads to the journal, which reads a priority at the beginning of each line.
#pragma once

#include "proxy/net/systemd/environment.hpp"

namespace reprise::net {

/// Returns true if `descriptor` is the stream that JOURNAL_STREAM names by device and inode
/// (systemd.exec(5)). Returns false if the output is redirected to a file, or if JOURNAL_STREAM was set for
/// another process.
bool is_journal_stream(const Environment&, int descriptor);

}  // namespace reprise::net
