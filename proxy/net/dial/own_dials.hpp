// The connections that this process has dialled and not ended: one that is accepted from the same address, to
// the same, was redirected to its own sender.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "proxy/net/io/task.hpp"
#include "proxy/net/upstream/address.hpp"

namespace reprise::net {

/// Thread-safe; outlives every entry. Nothing is kept until `watch`: only where there is a transparent
/// listener can anything come back.
class OwnDials {
 public:
  /// Before the io threads start.
  void watch() { watched_ = true; }
  bool watched() const { return watched_.load(std::memory_order_relaxed); }

  /// `begin` starts a connect to `remote`, and returns the address that it goes out from; unset: it does not.
  /// That connection is one of ours until the result is gone. `has` waits meanwhile, so that what comes back
  /// at once is judged after it.
  template <typename Begin>
  std::shared_ptr<void> add(const tcp::endpoint& remote, Begin begin) {
    const std::scoped_lock lock(mutex_);
    const tcp::endpoint local = begin();
    if (local.port() == 0) return nullptr;
    const Ends ends{plain(local), plain(remote)};
    dials_.insert(ends);
    return std::make_shared<Entry>(*this, ends);
  }
  /// Whether a connection from `client` to `original`, where it went before any rule redirected it, is one of
  /// ours. By both ends: the kernel gives one port to connections to several places. An IPv4 address inside
  /// an IPv6 one is that IPv4 address.
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
    // One of them: the next connection of the same ends may have begun before the last one's stream went.
    if (const auto one = dials_.find(ends); one != dials_.end()) dials_.erase(one);
  }

  mutable std::mutex mutex_;
  std::multiset<Ends> dials_;
  std::atomic<bool> watched_{false};
};

}  // namespace reprise::net
