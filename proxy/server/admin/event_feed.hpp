// Those who read /events: one text a second is made for all of them, and who does not read is let go.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "proxy/net/io/clock.hpp"
#include "proxy/server/admin/admin_visits.hpp"

namespace reprise::server {

/// What readers are told at one moment, as events.
struct Edition {
  std::string whole;    ///< to those who have just come; empty where nobody has
  std::string changes;  ///< to all others: what is new since the edition before
};

/// What keeps readers from costing more than they should.
struct FeedLimits {
  std::size_t readers = 16;
  std::size_t unsent = 1 << 20;                  ///< bytes of one reader; a single event may be longer
  std::size_t kernel_buffer = 64 << 10;          ///< of one connection, for what is sent and not read
  Duration patience = std::chrono::seconds(10);  ///< how long one event may take to be taken over
  Duration period = std::chrono::seconds(1);     ///< from one edition to the next
  Duration least_period = std::chrono::milliseconds(200);  ///< the same, for the sake of who has just come
};

/// Of one admin listener; used on its io thread alone. `make` is called on the page thread, while anybody
/// reads and never otherwise. What hands out the editions keeps `owner`, which owns the feed, alive.
class EventFeed {
 public:
  using Make = std::function<Edition(bool whole)>;

  EventFeed(asio::io_context& io, asio::thread_pool& page_thread, Make make, FeedLimits limits);
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  bool has_room() const { return !ended_ && readers_.size() < limits_.readers; }
  std::size_t most() const { return limits_.readers; }
  /// Sends `head`, and events from then on. Ends with the feed, with the reader's connection, or because the
  /// reader has not read. `owner`: what owns this feed.
  Task<void> serve(std::shared_ptr<void> owner, AdminVisit& visit, std::string head);
  /// Tells every reader that this is the end, and lets none in any more.
  void end();

 private:
  /// One connection. On the list while it lives.
  struct Reader {
    Reader(EventFeed& all, AdminVisit& at);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void take(std::shared_ptr<const std::string> text);
    void leave();

    EventFeed& feed;
    AdminVisit& visit;
    std::list<Reader*>::iterator place;
    net::Timer woken;  ///< never due: cancelled when there is something to do
    std::deque<std::shared_ptr<const std::string>> unsent;
    std::size_t bytes = 0;
    bool begun = false;  ///< has been told the whole
    bool left = false;
  };

  static void watch(const std::shared_ptr<Reader>&);
  void begin_handing_out(std::shared_ptr<void> owner);
  Task<void> hand_out(std::shared_ptr<void> owner);
  Task<void> rest(Instant last);
  void give(Edition edition);
  bool somebody_is_new() const;

  asio::thread_pool& page_thread_;
  const Make make_;
  const FeedLimits limits_;
  net::Timer next_;
  std::list<Reader*> readers_;
  bool handing_out_ = false;
  bool ended_ = false;
};

}  // namespace reprise::server
