// The watchdog for a service manager: reports that every io thread still runs its loop.
#pragma once

#include <vector>

#include "proxy/net/io/task.hpp"
#include "proxy/net/systemd/notify_socket.hpp"

namespace reprise::server {

/// Sends WATCHDOG=1 at the interval `every`, as long as every loop has run a job since the previous
/// notification. A loop that hangs stops the notifications. Runs on the first loop until that loop ends.
Task<void> watch_over(std::vector<asio::io_context*> loops, net::NotifySocket notify, Duration every);

}  // namespace reprise::server
