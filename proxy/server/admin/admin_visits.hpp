// The connections to the admin listener: how many there are, and which of them has to go for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "proxy/net/io/task.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::server {

class AdminVisits;

/// What a request costs: a probe gets a few bytes at once, a page has to be made.
enum class AdminWork : std::uint8_t { probe, page };

/// One connection to the admin listener; on the list from its beginning to its end. Used by one thread.
class AdminVisit final : public net::Timed {
 public:
  AdminVisit(AdminVisits& all, net::Tick& tick, tcp::socket socket);
  ~AdminVisit() override;
  AdminVisit(const AdminVisit&) = delete;
  AdminVisit& operator=(const AdminVisit&) = delete;

  tcp::socket& socket() { return socket_; }
  /// Ends what the connection waits for, unless called again before.
  void limit(Duration after) { tick_.arm(*this, after); }
  /// A whole request has come. The connection does not give way until `moved` is called.
  void asked(AdminWork);
  /// The response is being written: called at its begin, and whenever the kernel has accepted more of it.
  void moved();
  /// From now on the connection waits for a request, as the last of all.
  void answered();
  /// Nothing of it is waited for any more.
  void lift_limit() { net::Tick::disarm(*this); }
  /// From now on it is somebody else's to count. While its request is being answered.
  void stop_counting();

 protected:
  void time_is_up() override;

 private:
  friend class AdminVisits;

  AdminVisits& all_;
  net::Tick& tick_;
  tcp::socket socket_;
  /// In `is_made` the visit is on no list.
  enum class State : std::uint8_t { waits, is_made, is_sent };

  void leave_list();
  void close();
  bool is_stuck(Instant now);

  std::list<AdminVisit*>::iterator place_;
  State state_ = State::waits;
  AdminWork work_ = AdminWork::probe;  ///< of the request that is being answered
  Instant moved_at_;                   ///< set while the response is being sent
  bool counted_ = true;
};

/// All of one admin listener, which outlives them.
class AdminVisits {
 public:
  explicit AdminVisits(std::size_t most);
  AdminVisits(const AdminVisits&) = delete;
  AdminVisits& operator=(const AdminVisits&) = delete;

  /// True if there is room for one more.
  bool has_room() const { return count_ < most_; }
  /// Closes one connection: the one that has waited longest for a request or for the rest of one; if none
  /// waits, the one whose response has not moved for longest. False if every response moves.
  bool make_room();
  /// True if one more page may be made: a few places are left for probes.
  bool has_room_for_page() const { return pages_ < most_pages_; }
  /// Closes the connection whose page has not moved for longest. False if every page is being made or moves.
  bool make_room_for_page();

 private:
  friend class AdminVisit;

  AdminVisit* stuck(bool pages_only);

  const std::size_t most_;
  const std::size_t most_pages_;
  std::size_t count_ = 0;           ///< open ones; those that were closed are still to be destroyed
  std::size_t pages_ = 0;           ///< of these, the ones whose page is being made or sent
  std::list<AdminVisit*> waiting_;  ///< the longest first
  std::list<AdminVisit*> sending_;  ///< the one that moved last is the last
};

}  // namespace reprise::server
