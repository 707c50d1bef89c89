#include "proxy/forward/session/idle_connection.hpp"

#include <memory>

namespace reprise::forward {

using telemetry::LimitHit;

namespace {

/// An idle client connection, owned by the pending wait on the connection's socket. When the socket is
/// closed, the wait ends and destroys this object.
class IdleConnection final : public IdleClient, public ClientSession, private net::Timed {
 public:
  IdleConnection(Worker& worker, ClientConnection connection)
      : worker_(worker),
        connection_(std::move(connection)),
        membership_(worker.idle_clients, *this, net::Tick::now()) {
    worker_.sessions.add(*this);
    worker_.tick.arm(*this, worker_.snapshot->settings.timers.keep_alive);
  }
  ~IdleConnection() override { worker_.sessions.remove(*this); }
  IdleConnection(const IdleConnection&) = delete;
  IdleConnection& operator=(const IdleConnection&) = delete;

  static void wait(std::unique_ptr<IdleConnection> client) {
    tcp::socket& socket = client->socket();
    socket.async_wait(tcp::socket::wait_read, [client = std::move(client)](const ErrorCode& error) {
      // The socket may have been closed after the wait had completed without an error.
      if (!error && client->socket().is_open()) serve(client->worker_, std::move(client->connection_));
    });
  }

  void drain() override {
    if (!has_pending_request()) close();
  }
  void abort() override { close(); }

 protected:
  bool close_for_room() override { return close_for(LimitHit::room); }
  void time_is_up() override { close_for(LimitHit::keep_alive); }

 private:
  // Returns true if a request has just arrived. The wait is then about to complete and to serve that request.
  bool has_pending_request() { return net::unread_of(socket().native_handle()) == net::Unread::bytes; }
  bool close_for(LimitHit limit) {
    if (has_pending_request()) return false;
    worker_.shared.metrics.count_limit(limit);
    close();
    return true;
  }
  tcp::socket& socket() { return std::get<tcp::socket>(connection_.carrier); }
  // Removes the connection from the list of idle clients and from the tick now, because the pending wait ends
  // only in a later turn of the event loop.
  void close() {
    net::Tick::disarm(*this);
    membership_.end();
    ErrorCode ignored;
    socket().close(ignored);
  }

  Worker& worker_;
  ClientConnection connection_;
  IdleClients::Membership membership_;
};

}  // namespace

void wait_idle(Worker& worker, ClientConnection connection) {
  IdleConnection::wait(std::make_unique<IdleConnection>(worker, std::move(connection)));
}

}  // namespace reprise::forward
