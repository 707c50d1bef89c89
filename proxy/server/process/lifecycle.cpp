#include "proxy/server/process/lifecycle.hpp"

#include <boost/asio/co_spawn.hpp>
#include <chrono>

namespace reprise::server {

void Lifecycle::stop() {
  if (runtime_.phase.stopping.exchange(true)) return;
  asio::io_context& first = runtime_.workers.front()->io;
  asio::post(first, [this, &first] { asio::co_spawn(first, shut_down(), or_abort); });
}

void Lifecycle::stop_now() {
  runtime_.phase.ended = true;
  for (const auto& worker : runtime_.workers) worker->io.stop();
}

void Lifecycle::drain() {
  if (runtime_.phase.leaving.exchange(true)) return;
  runtime_.log_message(config::LogLevel::info,
                       "draining: not ready, and each connection closes after its current response");
  runtime_.options.notify.send(service_status(config_.now(), true));
  end_after_response();
}

void Lifecycle::undo_drain() {
  if (!runtime_.phase.leaving.exchange(false)) return;
  runtime_.log_message(config::LogLevel::info, "draining is undone: ready again");
  runtime_.options.notify.send(service_status(config_.now(), false));
  for (const auto& worker : runtime_.workers) {
    asio::post(worker->io, [this, &worker = *worker] {
      if (!runtime_.phase.stopping) worker.leaving = false;
    });
  }
}

// Closes each connection over HTTP/1 only after a response, because a client may just have sent a request on
// an idle connection. Over HTTP/2, the end can be announced before.
void Lifecycle::end_after_response() {
  for (const auto& worker : runtime_.workers) {
    asio::post(worker->io, [&worker = *worker] { forward::leave(worker); });
  }
}

Task<void> Lifecycle::wait_for_sessions(Instant limit) {
  net::Timer pause(runtime_.workers.front()->io);
  while ((open_listeners_ > 0 || runtime_.shared->client_connections.load() > 0) &&
         net::Tick::now() < limit) {
    pause.expires_after(std::chrono::milliseconds(10));
    co_await pause.async_wait(as_result);
  }
}

// Closes the admin listener last, which also ends the readers of /events. Then runs the loop a few times, so
// that these readers get their last event. The end of the process closes the other connections.
Task<void> Lifecycle::close_admin() {
  constexpr int turns = 16;
  ErrorCode ignored;
  const std::shared_ptr<const ListenerSet> listeners = config_.now().listeners;
  if (!listeners->has_admin()) co_return;
  listeners->admin().admin->close(ignored);
  for (int i = 0; i < turns; ++i) co_await asio::post(runtime_.workers.front()->io, asio::use_awaitable);
}

Task<void> Lifecycle::shut_down() {
  runtime_.log_message(config::LogLevel::info, "shutting down");
  runtime_.options.notify.send(
      "STOPPING=1\nSTATUS=shutting down: " + std::to_string(runtime_.shared->client_connections.load()) +
      " open client connections");
  runtime_.phase.ready = false;
  end_after_response();
  const config::Shutdown times = config_.now().snapshot->settings.shutdown;
  net::Timer linger(runtime_.workers.front()->io, times.linger);
  co_await linger.async_wait(as_result);
  open_listeners_ = runtime_.workers.size();
  for (std::size_t i = 0; i < runtime_.workers.size(); ++i) {
    asio::post(runtime_.workers[i]->io, [this, i] {
      config_.close_listeners(i);
      --open_listeners_;
    });
  }
  co_await wait_for_sessions(net::Tick::now() + times.grace);
  for (const auto& worker : runtime_.workers) {
    asio::post(worker->io, [&worker = *worker] { forward::abort(worker); });
  }
  co_await wait_for_sessions(net::Tick::now() + std::chrono::seconds(1));
  co_await close_admin();
  runtime_.log_message(config::LogLevel::info, "stopped");
  stop_now();
}

}  // namespace reprise::server
