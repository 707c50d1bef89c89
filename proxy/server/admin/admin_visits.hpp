// Counts the connections to the admin listener, and chooses a connection to close when room is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "proxy/net/io/task.hpp"
#include "proxy/net/io/tick.hpp"

namespace reprise::server {

class AdminVisits;

/// Cost of a request: a probe gets a few bytes at once; a page must be built.
enum class AdminWork : std::uint8_t { probe, page };

/// One connection to the admin listener. Registered in AdminVisits for its whole lifetime. Used by one
/// thread.
class AdminVisit final : public net::Timed {
 public:
  AdminVisit(AdminVisits& all, net::Tick& tick, tcp::socket socket);
  ~AdminVisit() override;
  AdminVisit(const AdminVisit&) = delete;
  AdminVisit& operator=(const AdminVisit&) = delete;

  tcp::socket& socket() { return socket_; }
  /// Sets the time limit of the connection's pending operation; replaces an earlier limit.
  void limit(Duration after) { tick_.arm(*this, after); }
  /// Reports that a whole request has arrived. Until `moved` is called, this connection is not closed to make
  /// room.
  void asked(AdminWork);
  /// Reports progress of the response: called at its start, and whenever the kernel has accepted more of it.
  void moved();
  /// Reports the end of the response. The connection then waits for its next request, at the end of the
  /// waiting list.
  void responded();
  /// Removes the time limit.
  void lift_limit() { net::Tick::disarm(*this); }
  /// Removes this connection from the count. Call when the event feed takes the connection over, because the
  /// feed counts its own connections. Precondition: a request is being served.
  void stop_counting();

 protected:
  void time_is_up() override;

 private:
  friend class AdminVisits;

  AdminVisits& all_;
  net::Tick& tick_;
  tcp::socket socket_;
  /// In state `is_made`, the response is being made, and the visit is in no list.
  enum class State : std::uint8_t { waits, is_made, is_sent };

  void leave_list();
  void close();
  bool is_stuck(Instant now);

  std::list<AdminVisit*>::iterator place_;
  State state_ = State::waits;
  AdminWork work_ = AdminWork::probe;  ///< cost class of the current request
  Instant moved_at_;                   ///< time of the latest progress while a response is sent
  bool counted_ = true;
};

/// All connections of one admin listener. Must outlive these connections.
class AdminVisits {
 public:
  explicit AdminVisits(std::size_t most);
  AdminVisits(const AdminVisits&) = delete;
  AdminVisits& operator=(const AdminVisits&) = delete;

  /// Returns true if there is room for another connection.
  bool has_room() const { return count_ < most_; }
  /// Closes the connection that has waited longest for a request or for the rest of a request. If no
  /// connection waits, closes the connection whose response has not progressed for longest. Returns false if
  /// every response is progressing.
  bool make_room();
  /// Returns true if another page may be built. A few connections are reserved for probes.
  bool has_room_for_page() const { return pages_ < most_pages_; }
  /// Closes the connection whose page has not progressed for longest. Returns false if every page is being
  /// built or is progressing.
  bool make_room_for_page();

 private:
  friend class AdminVisit;

  AdminVisit* stuck(bool pages_only);

  const std::size_t most_;
  const std::size_t most_pages_;
  std::size_t count_ = 0;           ///< open connections; excludes closed ones that are not destroyed yet
  std::size_t pages_ = 0;           ///< connections whose response is being built or sent
  std::list<AdminVisit*> waiting_;  ///< the connection that has waited longest is first
  std::list<AdminVisit*> sending_;  ///< the connection with the latest progress is last
};

}  // namespace reprise::server
