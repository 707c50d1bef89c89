// The HTTP/2 connections of one io thread to one upstream, and the choice between them (rows M53 to M57).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "proxy/net/io/pause.hpp"
#include "proxy/net/streams/http2_upstream_stream.hpp"
#include "proxy/net/upstream/pool.hpp"

namespace reprise::net {

class Http2Set;

/// One HTTP/2 connection to an upstream, shared by requests of one io thread. Owned by its Http2Set; the
/// streams on it keep it alive.
class SharedConnection final : public Timed, public std::enable_shared_from_this<SharedConnection> {
 public:
  SharedConnection(Http2Set&, std::shared_ptr<Http2UpstreamConnection>, const policy::UpstreamAddress&,
                   std::shared_ptr<const AddressFilter> allowed_by, std::uint64_t number);
  ~SharedConnection() override;

  /// Starts no further stream on the connection. It closes when its last stream has ended.
  void retire();
  /// Sets when the connection retires because of its age (row N2).
  void expire_at(Instant end) { expires_ = end; }

 protected:
  void time_is_up() override;

 private:
  friend class Http2Set;
  friend class StreamLease;

  /// Returns how many more streams may be lent. Streams that are lent and not opened count as open.
  std::size_t room() const;
  bool is_idle() const { return lent_ == 0; }

  Http2Set& set_;
  std::shared_ptr<Http2UpstreamConnection> connection_;
  const policy::UpstreamAddress address_;
  std::shared_ptr<const AddressFilter> allowed_by_;  ///< last filter that allowed `address_`
  const std::uint64_t number_;
  std::weak_ptr<const void>
      owner_;  ///< the client connection that uses the connection alone, if there is one
  std::optional<Instant> expires_;
  Instant idle_since_{};
  std::size_t lent_ = 0;
  bool reused_ = false;  ///< has carried a stream
  bool retired_ = false;
  bool counted_as_idle_ = false;
};

/// One stream of a shared connection, for one attempt. The destructor ends the stream.
class StreamLease {
 public:
  /// `connection` belongs to the upstream's set.
  StreamLease(std::shared_ptr<Upstream>, std::shared_ptr<SharedConnection> connection);
  ~StreamLease();
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;

  Http2UpstreamStream& stream() { return *stream_; }
  const Http2UpstreamStream& stream() const { return *stream_; }
  /// Returns true if the connection had carried a stream before this one.
  bool reused() const { return reused_; }
  std::uint64_t number() const { return connection_->number_; }
  const policy::UpstreamAddress& address() const { return connection_->address_; }
  /// Starts no further stream on the connection, because its peer seems dead.
  void retire_connection() { connection_->retire(); }

 private:
  std::shared_ptr<Upstream> upstream_;  ///< keeps the set alive
  std::shared_ptr<SharedConnection> connection_;
  const bool reused_;
  std::optional<Http2UpstreamStream> stream_;
};

/// What the choice of a connection depends on. Refers to objects of the attempt.
struct StreamRequest {
  std::shared_ptr<Upstream> upstream;
  std::shared_ptr<const void> client;  ///< identifies the client connection
  Freshness freshness = Freshness::any;
  const RecentConnections& recent;
  std::span<const policy::UpstreamAddress> not_to;  ///< addresses to avoid
  const std::shared_ptr<const AddressFilter>& filter;
  bool may_hold_stream = false;  ///< another attempt of the request may hold a stream
};

/// Used on one io thread.
class Http2Set {
 public:
  Http2Set(Pool&, Upstream&);
  ~Http2Set();
  Http2Set(const Http2Set&) = delete;
  Http2Set& operator=(const Http2Set&) = delete;

  /// A place in the queue of the requests that wait for a stream, in order of arrival. Requests that wait for
  /// a dial of their own client wait outside the queue, because no other client needs to wait behind them.
  class Turn final : public Cancellable {
   public:
    Turn(Http2Set&, const asio::any_io_executor&);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Returns true if no request waits that came earlier.
    bool is_first() const;
    /// Joins the queue, and waits until something may have changed, at most until `due`. Returns false after
    /// `cancel`.
    Task<bool> wait(Instant due);
    /// Waits until a dial has ended, at most until `due`. Returns false after `cancel`. Precondition:
    /// `awaits_dial`.
    Task<bool> wait_for_dial(Instant due);
    /// Leaves the queue, so that the next request can look.
    void leave();
    void cancel() override;

   private:
    friend class Http2Set;
    Http2Set& set_;
    Pause pause_;
    const std::uint64_t failed_dials_;  ///< of the set, when this turn began
    bool queued_ = false;
    bool cancelled_ = false;
  };

  /// A dial that is under way as long as this object exists. It has failed unless `succeed` is called.
  class Dialling {
   public:
    Dialling(Http2Set&, std::shared_ptr<const void> client);
    ~Dialling();
    Dialling(const Dialling&) = delete;
    Dialling& operator=(const Dialling&) = delete;

    /// The connection was added to the set.
    void succeed() { succeeded_ = true; }

   private:
    friend class Http2Set;
    Http2Set& set_;
    const std::shared_ptr<const void> client_;
    bool succeeded_ = false;
  };

  /// Returns a stream of a connection that only this client uses; null if none has room.
  std::unique_ptr<StreamLease> of_client(const StreamRequest&);
  /// Returns a stream of an idle connection that no client owns; null if there is none. The client then owns
  /// the connection.
  std::unique_ptr<StreamLease> of_idle(const StreamRequest&);
  /// Returns a stream of the connection with the fewest streams; null if none has room.
  std::unique_ptr<StreamLease> of_least_loaded(const StreamRequest&);
  /// Returns true if another connection may be dialled for the request: there are fewer than
  /// `pool.http2_connections`, and the upstream does not refuse streams on the ones there are. A request that
  /// must not use a connection that was idle for long takes the place of such a connection, which closes (row
  /// F10). A request that may hold a stream may exceed the limit if no connection has room, because it
  /// could wait for its own stream.
  bool may_dial(const StreamRequest&);
  /// Returns true if the client of the request already dials, so that the request may soon use that
  /// connection (row M53). False if a dial has failed since `turn` began, because the request then dials
  /// itself, and for a request that has waited in the queue.
  bool awaits_dial(const StreamRequest&, const Turn& turn) const;
  /// Adds a connection that is ready.
  std::shared_ptr<SharedConnection> add(std::shared_ptr<Http2UpstreamConnection>, const StreamRequest&,
                                        const policy::UpstreamAddress&);

  /// Returns a stream of a connection that `add` has just returned; null if it has no room. The connection is
  /// then idle.
  std::unique_ptr<StreamLease> of(SharedConnection&, const StreamRequest&);

  /// Counts the error codes that have arrived on a connection. The set does so itself for the connections
  /// that were added.
  void count_codes(Http2UpstreamConnection&);
  /// Closes every idle connection. The others close when their last stream has ended.
  void retire_all();
  /// Closes one idle connection to free its descriptor. Returns false if none is idle.
  bool make_room();

 private:
  friend class SharedConnection;
  friend class StreamLease;

  bool is_usable(SharedConnection&, const StreamRequest&) const;
  /// Returns true if the connection is usable and does not lead to an address that the request avoids.
  bool is_preferred(SharedConnection&, const StreamRequest&) const;
  std::unique_ptr<StreamLease> lend(SharedConnection&, const StreamRequest&);
  void given_back(SharedConnection&);
  void changed(SharedConnection&);
  void close(SharedConnection&);
  void drop(const SharedConnection&);
  SharedConnection* idle_longest() const;
  void begin_idle(SharedConnection&);
  void stay_idle(SharedConnection&, Duration life);
  void end_idle(SharedConnection&);
  void wake_next();

  Pool& pool_;
  Upstream& upstream_;
  std::vector<std::shared_ptr<SharedConnection>> connections_;
  std::deque<Turn*> queue_;
  std::vector<Turn*> await_dial_;
  std::vector<const Dialling*> dialling_;
  std::uint64_t failed_dials_ = 0;
};

}  // namespace reprise::net
