// The sign of life for a service manager: every io thread still turns its loop.
#pragma once

#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/net/systemd/notify_socket.hpp"

namespace reprise::server {

/// Runs on the first of the loops, which outlives it, until that ends. Tells WATCHDOG=1 every so often, as
/// long as all loops have done a job since the last time: one that hangs ends the signs.
Task<void> watch_over(std::vector<asio::io_context*> loops, net::NotifySocket notify, Duration every);

}  // namespace reprise::server
