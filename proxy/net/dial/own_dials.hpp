// The open connections that this process has dialled. A transparent listener uses them to detect a connection
// that was redirected back to this proxy.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "proxy/net/io/task.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::net {

/// Thread-safe; must outlive every entry. Records nothing before `watch`, because only a transparent listener
/// can accept a connection that this process has dialled.
class OwnDials {
 public:
  /// Enables recording. Call before the io threads start.
  void watch() { watched_ = true; }
  bool watched() const { return watched_.load(std::memory_order_relaxed); }

  /// Records one connection until the returned entry is destroyed. `begin` starts a connect to `remote` and
  /// returns its local address, with port 0 if the connect did not start. Calls of `has` wait while `begin`
  /// runs, so that a connection that is redirected back at once is recognised.
  template <typename Begin>
  std::shared_ptr<void> add(const tcp::endpoint& remote, Begin begin) {
    const std::scoped_lock lock(mutex_);
    const tcp::endpoint local = begin();
    if (local.port() == 0) return nullptr;
    const Ends ends{plain(local), plain(remote)};
    dials_.insert(ends);
    return std::make_shared<Entry>(*this, ends);
  }
  /// Returns true if this process has dialled the connection from `client` to `original` (its destination
  /// before any redirect rule). Compares both ends, because the kernel may use one local port for several
  /// destinations. An IPv4-mapped IPv6 address equals its IPv4 address.
  bool has(const tcp::endpoint& client, const tcp::endpoint& original) const {
    const std::scoped_lock lock(mutex_);
    return dials_.contains({plain(client), plain(original)});
  }

 private:
  using Ends = std::pair<tcp::endpoint, tcp::endpoint>;

  struct Entry {
    Entry(OwnDials& all, const Ends& one) : dials(all), ends(one) {}
    ~Entry() { dials.remove(ends); }
    Entry(Entry&&) = delete;
    Entry& operator=(Entry&&) = delete;

    OwnDials& dials;
    Ends ends;
  };

  static tcp::endpoint plain(const tcp::endpoint& endpoint) {
    return {unmapped(endpoint.address()), endpoint.port()};
  }

  void remove(const Ends& ends) {
    const std::scoped_lock lock(mutex_);
    // Erases only one entry: a new connection with the same two addresses may have begun before the old
    // stream was destroyed.
    if (const auto one = dials_.find(ends); one != dials_.end()) dials_.erase(one);
  }

  mutable std::mutex mutex_;
  std::multiset<Ends> dials_;
  std::atomic<bool> watched_{false};
};

}  // namespace reprise::net
