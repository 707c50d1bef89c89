// A bounded table of state per upstream host:port; evicts the least recently used entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reprise::net {

/// Not thread-safe: the owner locks. An evicted entry is created again when its host is requested. An entry
/// that is in use (`Entry::held()`) is never evicted, so that a host never has two entries (row L21). If all
/// entries are in use, the table exceeds its bound.
template <typename Entry>
class HostTable {
 public:
  explicit HostTable(std::size_t most) : most_(most) {}

  Entry& at(std::string_view host_port) {
    std::string key(host_port);
    if (entries_.size() >= most_ && !entries_.contains(key)) evict_unused();
    Known& known = entries_[std::move(key)];
    known.asked = ++clock_;
    return known.entry;
  }

  /// Marks the host's entry as most recently used. Call when a user of the entry releases it.
  void left(std::string_view host_port) {
    if (const auto known = entries_.find(std::string(host_port)); known != entries_.end())
      known->second.asked = ++clock_;
  }

  template <typename Visit>
  void each(Visit visit) const {
    for (const auto& [host_port, known] : entries_) visit(std::string_view(host_port), known.entry);
  }

 private:
  struct Known {
    Entry entry;
    std::uint64_t asked = 0;
  };

  // Evicts the least recently used entries until there is room for another entry, or until all remaining
  // entries are in use.
  void evict_unused() {
    while (entries_.size() >= most_) {
      auto oldest = entries_.end();
      for (auto each = entries_.begin(); each != entries_.end(); ++each) {
        const bool older = oldest == entries_.end() || each->second.asked < oldest->second.asked;
        if (older && !each->second.entry.held()) oldest = each;
      }
      if (oldest == entries_.end()) return;
      entries_.erase(oldest);
    }
  }

  const std::size_t most_;
  std::unordered_map<std::string, Known> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace reprise::net
