// A bounded table of what is known per upstream host:port; the one unused for longest goes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reprise::net {

/// Not thread-safe: the owner locks. An entry that was forgotten starts anew when it is asked for again. One
/// that `Entry::held()` says is in somebody's hands is never forgotten, or there would be two of it (row
/// L21): the table then holds as many as are held.
template <typename Entry>
class HostTable {
 public:
  explicit HostTable(std::size_t most) : most_(most) {}

  Entry& at(std::string_view host_port) {
    std::string key(host_port);
    if (entries_.size() >= most_ && !entries_.contains(key)) forget_unused();
    Known& known = entries_[std::move(key)];
    known.asked = ++clock_;
    return known.entry;
  }

  /// Its holder has let go of it: among those that nobody holds it is the one used last.
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

  // After a time in which more were held than fit, there may be several.
  void forget_unused() {
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
