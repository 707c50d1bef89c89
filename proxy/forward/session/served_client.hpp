// A client connection that is being served. Shutdown, reload and `make_room` act on such connections.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/exchange/client_side.hpp"
#include "proxy/forward/session/client.hpp"
#include "proxy/net/ends/http1_client.hpp"

namespace reprise::forward {

/// Lives in a coroutine frame, on one io thread. Used by Session and StreamSession.
class ServedClient final : public Client, public IdleClient, public ClientSession {
 public:
  ServedClient(Worker& worker, ClientConnection connection);
  ~ServedClient() override;

  /// Watches for the client's departure and for shutdown while an exchange runs.
  class Watch {
   public:
    explicit Watch(ServedClient&);
    ~Watch() { client_.departed_.reset(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Returns the exchange's view of the client.
    ClientSide side() { return {client_.end_, client_.pause_, watch_, &bytes_}; }

   private:
    ServedClient& client_;
    ClientBytes bytes_;
    net::ClientWatch watch_;
    net::GuardedPointer<net::ClientWatch>::Guard guard_;
  };

  /// Marks the client as idle for the lifetime of this object. A shutdown then ends a read from the client at
  /// once.
  class [[nodiscard]] Idle {
   public:
    explicit Idle(ServedClient& client) : guard_(client.idle_, &client.stream) {}

   private:
    net::GuardedPointer<net::Stream>::Guard guard_;
  };

  /// Returns the connection of an idle client whose session has ended.
  ClientConnection release();
  /// Starts to read the body of the request with that head.
  net::BodySource& begin_body(const http::RequestHead&);
  /// Returns true if the connection counts towards `limits.connections`. False inside a CONNECT over HTTP/2.
  bool has_place() const { return place_ != nullptr; }
  /// Returns true if unread bytes have arrived. A client with a request on its way is not closed.
  bool has_pending_request() { return stream.unread() == net::Unread::bytes; }
  /// Reads and discards what the client still sends, then closes the connection. A drain does not wait for
  /// this function.
  Task<void> linger();

  void drain() override;
  void judge(const net::AddressFilter&) override;
  void abort() override;

  net::Stream stream;
  net::Buffer buffer;  ///< bytes that were read and not consumed yet
  /// True while the first request of a new connection is expected, for at most one tick. Shutdown does not
  /// end this wait: the client could not know that its request was not read, and would report a failure.
  bool awaits_first = false;

 protected:
  bool close_for_room() override;

 private:
  net::Http1Client end_;
  net::BodyReader body_;
  net::Pause pause_;
  net::GuardedPointer<net::ClientWatch> watch_;
  std::optional<IdleClients::Membership> departed_;  // set after the client's FIN during an exchange
  net::GuardedPointer<OpenTunnel> tunnel_;
  net::GuardedPointer<net::Stream> idle_;
  ClientPlace place_;
};

}  // namespace reprise::forward
