#include "proxy/forward/session/resting_client.hpp"

#include <memory>

namespace reprise::forward {

using telemetry::LimitHit;

namespace {

/// Owned by the wait on its own socket. Closing the socket ends the wait, which then destroys this object.
class RestingClient final : public IdleClient, public ClientSession, private net::Timed {
 public:
  RestingClient(Worker& worker, ClientConnection connection)
      : worker_(worker), connection_(std::move(connection)), stay_(worker.resting, *this, net::Tick::now()) {
    worker_.sessions.add(*this);
    worker_.tick.arm(*this, worker_.snapshot->settings.timers.keep_alive);
  }
  ~RestingClient() override { worker_.sessions.remove(*this); }
  RestingClient(const RestingClient&) = delete;
  RestingClient& operator=(const RestingClient&) = delete;

  static void wait(std::unique_ptr<RestingClient> client) {
    tcp::socket& socket = client->socket();
    socket.async_wait(tcp::socket::wait_read, [client = std::move(client)](const ErrorCode& error) {
      // The wait may have completed before the socket was closed.
      if (!error && client->socket().is_open()) serve(client->worker_, std::move(client->connection_));
    });
  }

  void drain() override {
    if (!has_asked()) close();
  }
  void abort() override { close(); }

 protected:
  bool close_for_room() override { return close_for(LimitHit::room); }
  void time_is_up() override { close_for(LimitHit::keep_alive); }

 private:
  // Returns true if a request has just arrived. The wait is then about to complete and to serve that request.
  bool has_asked() { return net::unread_of(socket().native_handle()) == net::Unread::bytes; }
  bool close_for(LimitHit limit) {
    if (has_asked()) return false;
    worker_.shared.metrics.count_limit(limit);
    close();
    return true;
  }
  tcp::socket& socket() { return std::get<tcp::socket>(connection_.carrier); }
  // Leaves the list and the timer now, because the wait completes only in a later turn of the event loop.
  void close() {
    net::Tick::disarm(*this);
    stay_.end();
    ErrorCode ignored;
    socket().close(ignored);
  }

  Worker& worker_;
  ClientConnection connection_;
  IdleClients::Stay stay_;
};

}  // namespace

void rest(Worker& worker, ClientConnection connection) {
  RestingClient::wait(std::make_unique<RestingClient>(worker, std::move(connection)));
}

}  // namespace reprise::forward
