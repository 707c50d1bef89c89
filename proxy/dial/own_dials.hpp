// The addresses that this process dials from at the moment: a connection that comes from one of them was
// redirected to its own sender.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "proxy/io/task.hpp"

namespace reprise::net {

/// Thread-safe; outlives every entry. Nothing is kept until `watch`: only where there is a transparent
/// listener can anything come back.
class OwnDials {
 public:
  /// Before the io threads start.
  void watch() { watched_ = true; }
  bool watched() const { return watched_.load(std::memory_order_relaxed); }

  /// `begin` starts a connect, and returns the address that it goes out from; unset: it does not. That
  /// address is one of ours until the result is gone. `has` waits meanwhile, so that what comes back at once
  /// is judged after it.
  template <typename Begin>
  std::shared_ptr<void> add(Begin begin) {
    const std::scoped_lock lock(mutex_);
    const tcp::endpoint local = begin();
    if (local.port() == 0) return nullptr;
    locals_.insert(local);
    return std::make_shared<Entry>(*this, local);
  }
  /// An IPv4 address inside an IPv6 one is that IPv4 address.
  bool has(const tcp::endpoint& client) const {
    asio::ip::address address = client.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped())
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    const std::scoped_lock lock(mutex_);
    return locals_.contains({address, client.port()});
  }

 private:
  struct Entry {
    Entry(OwnDials& all, const tcp::endpoint& one) : dials(all), local(one) {}
    ~Entry() { dials.remove(local); }
    Entry(Entry&&) = delete;
    Entry& operator=(Entry&&) = delete;

    OwnDials& dials;
    tcp::endpoint local;
  };

  void remove(const tcp::endpoint& local) {
    const std::scoped_lock lock(mutex_);
    locals_.erase(local);
  }

  mutable std::mutex mutex_;
  std::set<tcp::endpoint> locals_;
  std::atomic<bool> watched_{false};
};

}  // namespace reprise::net
