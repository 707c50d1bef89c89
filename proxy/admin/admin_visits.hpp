// The connections to the admin listener: how many there are, and which of them has to go for another.
#pragma once

#include <cstddef>
#include <list>

#include "proxy/io/task.hpp"
#include "proxy/io/tick.hpp"

namespace reprise::net {

class AdminVisits;

/// One connection to the admin listener; on the list from its beginning to its end. Used by one thread.
class AdminVisit final : public Timed {
 public:
  AdminVisit(AdminVisits& all, Tick& tick, tcp::socket socket);
  ~AdminVisit() override;
  AdminVisit(const AdminVisit&) = delete;
  AdminVisit& operator=(const AdminVisit&) = delete;

  tcp::socket& socket() { return socket_; }
  /// Ends what the connection waits for, unless called again before.
  void limit(Duration after) { tick_.arm(*this, after); }
  /// A whole request has come: it is answered before the connection may go.
  void asked();
  /// From now on it waits for a request, as the last of all.
  void answered();
  /// Nothing of it is waited for any more.
  void lift_limit() { Tick::disarm(*this); }
  /// From now on it is somebody else's to count. While its request is being answered.
  void stop_counting();

 protected:
  void time_is_up() override;

 private:
  friend class AdminVisits;

  AdminVisits& all_;
  Tick& tick_;
  tcp::socket socket_;
  std::list<AdminVisit*>::iterator place_;
  bool waits_ = true;
  bool counted_ = true;
};

/// All of one admin listener, which outlives them.
class AdminVisits {
 public:
  explicit AdminVisits(std::size_t most) : most_(most) {}
  AdminVisits(const AdminVisits&) = delete;
  AdminVisits& operator=(const AdminVisits&) = delete;

  /// True if there is room for one more.
  bool has_room() const { return count_ < most_; }
  /// Closes the connection that has waited longest for a request, or for the rest of one. False if every one
  /// is being answered.
  bool make_room();

 private:
  friend class AdminVisit;

  const std::size_t most_;
  std::size_t count_ = 0;           ///< open ones; those that were closed are still to be destroyed
  std::list<AdminVisit*> waiting_;  ///< the longest first
};

}  // namespace reprise::net
