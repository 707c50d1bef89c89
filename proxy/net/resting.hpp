// Clients that rest between two requests, the longest resting first: when connections run short they make
// room.
#pragma once

#include "proxy/net/tick.hpp"

namespace reprise::net {

class RestingClients;

/// A client's connection that may be in the list. It leaves the list before it ends.
class Resting {
 public:
  Resting() = default;
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;

 protected:
  virtual ~Resting() = default;

  /// Closes the connection, its descriptor included, before it returns. False, and nothing is done, if a
  /// request has come meanwhile.
  virtual bool close_for_room() = 0;

 private:
  friend class RestingClients;
  Resting* longer_ = nullptr;
  Resting* shorter_ = nullptr;
  Instant since_{};
  bool listed_ = false;
};

/// One per io thread; used on it only. Constant time, but for those that a request reached meanwhile.
class RestingClients {
 public:
  /// Whoever asked within this time counts as busy: its next request may be on its way.
  static constexpr Duration least = std::chrono::seconds(1);

  RestingClients() = default;
  RestingClients(const RestingClients&) = delete;
  RestingClients& operator=(const RestingClients&) = delete;

  void enter(Resting&, Instant now);
  void leave(Resting&);
  /// Closes the one that has rested longest; false if nobody has for `least`.
  bool make_room(Instant now);

 private:
  Resting* longest_ = nullptr;
  Resting* shortest_ = nullptr;
};

}  // namespace reprise::net
