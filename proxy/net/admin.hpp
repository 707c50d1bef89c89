// The admin listener: /livez /readyz /metrics /status. It answers questions and changes nothing.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <string>

#include "proxy/net/loop.hpp"

namespace reprise::net {

/// What the pages are made of. Callables run on the thread that their comment names.
struct AdminPages {
  std::function<bool()> ready;           ///< io thread: listeners up, not draining
  std::function<std::string()> status;   ///< io thread: the /status document
  std::function<std::string()> metrics;  ///< helper thread: the text takes milliseconds
};

/// Serves connections until the acceptor is closed. Only /livez, /readyz and /metrics answer other machines;
/// anything but GET and HEAD is refused with 405. /status wants a Host that is an address or `localhost`,
/// against DNS rebinding (row H6).
Task<void> accept_admin(Loop& loop, tcp::acceptor& acceptor, asio::thread_pool& helper,
                        const AdminPages& pages);

}  // namespace reprise::net
