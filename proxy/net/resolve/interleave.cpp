#include "proxy/net/resolve/interleave.hpp"

#include <algorithm>

namespace reprise::net {

std::vector<asio::ip::address> interleaved(const std::vector<asio::ip::address>& found, std::size_t most) {
  std::vector<asio::ip::address> ordered;
  ordered.reserve(std::min(found.size(), most));
  const auto next_of = [&](std::size_t from, bool v6) {
    while (from < found.size() && found[from].is_v6() != v6) ++from;
    return from;
  };
  bool v6 = !found.empty() && found.front().is_v6();
  std::size_t turn = next_of(0, v6);
  std::size_t other = next_of(0, !v6);
  while (ordered.size() < most && (turn < found.size() || other < found.size())) {
    if (turn < found.size()) {
      ordered.push_back(found[turn]);
      turn = next_of(turn + 1, v6);
    }
    std::swap(turn, other);
    v6 = !v6;
  }
  return ordered;
}

}  // namespace reprise::net
