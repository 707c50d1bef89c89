// Lists of client connections that can be closed to make room, ordered by their time in the list.
#pragma once

#include "proxy/net/io/tick.hpp"

namespace reprise::forward {

class IdleClients;

/// A client connection that may be in an IdleClients list.
class IdleClient {
 public:
  IdleClient() = default;
  IdleClient(const IdleClient&) = delete;
  IdleClient& operator=(const IdleClient&) = delete;

 protected:
  virtual ~IdleClient() = default;

  /// Closes the connection and its descriptor before it returns, or ends the exchange that holds the
  /// descriptor. If a request has arrived meanwhile, does nothing and returns false.
  virtual bool close_for_room() = 0;

 private:
  friend class IdleClients;
  IdleClient* longer_ = nullptr;
  IdleClient* shorter_ = nullptr;
  Instant since_{};
  bool listed_ = false;
};

/// A list of clients of one kind on one io thread, used on that thread only. All operations take constant
/// time, except that `make_room` passes over clients whose request has arrived.
class IdleClients {
 public:
  /// `least`: how long a client must be in the list before it can be closed.
  explicit IdleClients(Duration least) : least_(least) {}
  IdleClients(const IdleClients&) = delete;
  IdleClients& operator=(const IdleClients&) = delete;

  /// Keeps a client in the list for the lifetime of this object, or until the client is closed to make room.
  /// The client must outlive this object. `has_place`: closing the client makes room; otherwise, the client
  /// is not listed.
  class [[nodiscard]] Membership {
   public:
    Membership(IdleClients& clients, IdleClient& client, Instant now, bool has_place = true)
        : clients_(clients), client_(client) {
      if (has_place) clients_.enter(client_, now);
    }
    ~Membership() { end(); }
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

    void end() { clients_.leave(client_); }

   private:
    IdleClients& clients_;
    IdleClient& client_;
  };

  /// Closes the client that has been in the list longest. Returns false if no client has been in the list for
  /// `least`.
  bool make_room(Instant now);

 private:
  void enter(IdleClient&, Instant now);
  void leave(IdleClient&);

  const Duration least_;
  IdleClient* longest_ = nullptr;
  IdleClient* shortest_ = nullptr;
};

}  // namespace reprise::forward
