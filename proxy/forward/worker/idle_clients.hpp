// Clients that make room when connections run short, the longest waiting first: those that rest between two
// requests, and those that have closed their sending side.
#pragma once

#include "proxy/net/io/tick.hpp"

namespace reprise::forward {

class IdleClients;

/// A client's connection that may be in the list.
class IdleClient {
 public:
  IdleClient() = default;
  IdleClient(const IdleClient&) = delete;
  IdleClient& operator=(const IdleClient&) = delete;

 protected:
  virtual ~IdleClient() = default;

  /// Closes the connection, its descriptor included, before it returns, or ends the exchange that holds it.
  /// False, and nothing is done, if a request has come meanwhile.
  virtual bool close_for_room() = 0;

 private:
  friend class IdleClients;
  IdleClient* longer_ = nullptr;
  IdleClient* shorter_ = nullptr;
  Instant since_{};
  bool listed_ = false;
};

/// One of each kind per io thread; used on it only. Constant time, but for those that a request reached
/// meanwhile.
class IdleClients {
 public:
  /// `least`: whoever is in the list for a shorter time makes no room.
  explicit IdleClients(Duration least) : least_(least) {}
  IdleClients(const IdleClients&) = delete;
  IdleClients& operator=(const IdleClients&) = delete;

  /// Keeps a client in the list, as the one that has rested shortest, for as long as it lives or until it
  /// made room. Ends before the client does.
  class [[nodiscard]] Stay {
   public:
    Stay(IdleClients& clients, IdleClient& client, Instant now) : clients_(clients), client_(client) {
      clients_.enter(client_, now);
    }
    ~Stay() { end(); }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

    void end() { clients_.leave(client_); }

   private:
    IdleClients& clients_;
    IdleClient& client_;
  };

  /// Closes the one that is in the list longest; false if nobody is there for `least`.
  bool make_room(Instant now);

 private:
  void enter(IdleClient&, Instant now);
  void leave(IdleClient&);

  const Duration least_;
  IdleClient* longest_ = nullptr;
  IdleClient* shortest_ = nullptr;
};

}  // namespace reprise::forward
