// A bounded table of what is known per upstream host:port; the one asked for longest ago goes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace reprise::net {

/// Not thread-safe: the owner locks. An entry that was forgotten starts anew when it is asked for again.
template <typename Entry>
class HostTable {
 public:
  explicit HostTable(std::size_t most) : most_(most) {}

  Entry& at(std::string_view host_port) {
    std::string key(host_port);
    if (entries_.size() >= most_ && !entries_.contains(key)) forget_oldest();
    Known& known = entries_[std::move(key)];
    known.asked = ++clock_;
    return known.entry;
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

  void forget_oldest() {
    const auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.second.asked < b.second.asked;
    });
    if (oldest != entries_.end()) entries_.erase(oldest);
  }

  const std::size_t most_;
  std::unordered_map<std::string, Known> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace reprise::net
