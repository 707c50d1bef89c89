// A client's connection while it is served: the socket, what was read from it, and what shutdown, a reload
// and a shortage of connections may do to it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/session/client_connection.hpp"
#include "proxy/net/upstream/pin.hpp"

namespace reprise::forward {

/// Lives in a coroutine's frame, on one io thread; Session and StreamSession work with it.
class ServedClient final : public IdleClient, public ClientSession {
 public:
  ServedClient(Worker& worker, ClientConnection connection);
  ~ServedClient() override;

  /// While an exchange is under way: looks for the client's departure, and is told of shutdown.
  class Watch {
   public:
    explicit Watch(ServedClient&);
    ~Watch() { client_.departed_.reset(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// The client, as that exchange sees it.
    ClientSide side() { return {client_.stream, client_.buffer, client_.pause_, watch_, client_.tunnel_}; }

   private:
    ServedClient& client_;
    net::ClientWatch watch_;
    net::GuardedPointer<net::ClientWatch>::Guard guard_;
  };

  /// While the client has nothing under way: shutdown ends its reads at once.
  class [[nodiscard]] Idle {
   public:
    explicit Idle(ServedClient& client) : guard_(client.idle_, &client.stream) {}

   private:
    net::GuardedPointer<net::Stream>::Guard guard_;
  };

  /// Of a client whose session has ended and whose connection rests.
  ClientConnection release();
  /// Lent by the worker, with client, listener and configuration filled in.
  std::unique_ptr<Request> begin_request();
  /// Clears it and gives it back to the worker.
  void end_request(std::unique_ptr<Request>);
  /// The configuration of this moment is the request's.
  void put_under_newest(Request&);
  /// `address:port`
  std::string_view name();
  /// True if a request has come that no read has told of yet: it is not closed over.
  bool has_asked() { return stream.unread() == net::Unread::bytes; }
  /// Reads and forgets what the client still sends, then closes. Whoever drains does not wait for it.
  Task<void> linger();

  void drain() override;
  void judge(const net::AddressFilter&) override;
  void abort() override;

  Worker& worker;
  net::Stream stream;
  net::Buffer buffer;  ///< what was read and not taken yet
  net::Pin pin;
  const std::shared_ptr<const Listener> listener;
  std::shared_ptr<const ListenerRole> role;  ///< of the request at hand
  const ConnectionEnds ends;
  const net::Upstream* took_risk_of;
  bool had_request;  ///< before the one that is planned
  /// A client has just connected, and its first request is due within a tick. Shutdown does not cut that tick
  /// short: the client could not know that nothing was read, and would fail.
  bool awaits_first = false;

 protected:
  bool close_for_room() override;

 private:
  net::Pause pause_;
  std::string name_;  // once it was asked for
  net::GuardedPointer<net::ClientWatch> watch_;
  std::optional<IdleClients::Stay> departed_;  // while it has sent a FIN and something is under way
  net::GuardedPointer<OpenTunnel> tunnel_;
  net::GuardedPointer<net::Stream> idle_;
  ClientPlace place_;
};

}  // namespace reprise::forward
