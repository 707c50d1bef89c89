#include "proxy/server/process/watchdog.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <memory>

#include "proxy/net/io/clock.hpp"

namespace reprise::server {

Task<void> watch_over(std::vector<asio::io_context*> loops, net::NotifySocket notify, Duration every) {
  const auto turned = std::make_shared<std::atomic<std::size_t>>(loops.size());
  net::Timer pause(*loops.front());
  for (;;) {
    if (turned->load() == loops.size()) {
      notify.send("WATCHDOG=1");
      turned->store(0);
      for (asio::io_context* const loop : loops) asio::post(*loop, [turned] { turned->fetch_add(1); });
    }
    pause.expires_after(every);
    if (const auto [error] = co_await pause.async_wait(as_result); error) co_return;
  }
}

}  // namespace reprise::server
