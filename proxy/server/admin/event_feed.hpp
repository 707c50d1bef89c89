// The readers of /events: one text per second is made for all of them; a reader that is too slow is
// disconnected.
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

/// One edition: the events that are sent to all readers of /events at the same time.
struct Edition {
  std::string whole;  ///< whole state, for new readers; empty if there is no new reader
  /// Changes since the previous edition, for readers that have already received the whole state.
  std::string changes;
};

/// Limits on the resources that readers use.
struct FeedLimits {
  std::size_t readers = 16;
  std::size_t unsent = 1 << 20;          ///< bytes pending for one reader; a single event may be larger
  std::size_t kernel_buffer = 64 << 10;  ///< bytes of a connection's send buffer
  Duration patience = std::chrono::seconds(10);  ///< time limit for sending one event to a reader
  Duration period = std::chrono::seconds(1);     ///< time between two editions
  /// Minimum time between two editions if there is a new reader.
  Duration least_period = std::chrono::milliseconds(200);
};

/// The feed of one admin listener; used on its io thread only. `make` is called on the page thread, and only
/// while there are readers. The coroutine that distributes editions shares ownership of `owner`, the object
/// that owns this feed.
class EventFeed {
 public:
  using Make = std::function<Edition(bool whole)>;

  EventFeed(asio::io_context& io, asio::thread_pool& page_thread, Make make, FeedLimits limits);
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  bool has_room() const { return !ended_ && readers_.size() < limits_.readers; }
  std::size_t most() const { return limits_.readers; }
  /// Sends `head` and then events. Ends when the feed or the reader's connection ends, or if the reader is
  /// too slow. `owner`: the owner of this feed.
  Task<void> serve(std::shared_ptr<void> owner, AdminVisit& visit, std::string head);
  /// Sends every reader a final event, and accepts no new readers.
  void end();

 private:
  /// The connection of one reader. It is in the list of readers for its whole lifetime.
  struct Reader {
    Reader(EventFeed& all, AdminVisit& at);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    void take(std::shared_ptr<const std::string> text);
    void disconnect();

    EventFeed& feed;
    AdminVisit& visit;
    std::list<Reader*>::iterator place;
    net::Timer woken;  ///< never expires; cancelled to wake the coroutine that waits for it
    std::deque<std::shared_ptr<const std::string>> unsent;
    std::size_t bytes = 0;
    bool begun = false;  ///< the reader has received the whole state
    bool left = false;
  };

  static void watch(const std::shared_ptr<Reader>&);
  void begin_handing_out(std::shared_ptr<void> owner);
  Task<void> hand_out(std::shared_ptr<void> owner);
  Task<void> pause_until_next(Instant last);
  void give(Edition edition);
  bool has_new_reader() const;

  asio::thread_pool& page_thread_;
  const Make make_;
  const FeedLimits limits_;
  net::Timer next_;
  std::list<Reader*> readers_;
  bool handing_out_ = false;
  bool ended_ = false;
};

}  // namespace reprise::server
