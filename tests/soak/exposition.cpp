#include "tests/soak/exposition.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <stdexcept>

namespace reprise::soak {
namespace {

bool is_of(std::string_view series, std::string_view name) {
  return series.starts_with(name) && (series.size() == name.size() || series[name.size()] == '{');
}

}  // namespace

Exposition::Exposition(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t blank = line.rfind(' ');
    if (line.empty() || line.front() == '#' || blank == std::string_view::npos) continue;
    series_.emplace(line.substr(0, blank), std::strtod(std::string(line.substr(blank + 1)).c_str(), nullptr));
  }
}

double Exposition::sum(std::string_view name) const {
  double total = 0;
  for (auto at = series_.lower_bound(name); at != series_.end() && at->first.starts_with(name); ++at) {
    if (is_of(at->first, name)) total += at->second;
  }
  return total;
}

std::map<std::string, double> Exposition::by(std::string_view name, std::string_view label) const {
  const std::string mark = std::string(label) + "=\"";
  std::map<std::string, double> sums;
  for (auto at = series_.lower_bound(name); at != series_.end() && at->first.starts_with(name); ++at) {
    const std::size_t begin = at->first.find(mark);
    if (!is_of(at->first, name) || begin == std::string::npos) continue;
    const std::size_t value = begin + mark.size();
    sums[at->first.substr(value, at->first.find('"', value) - value)] += at->second;
  }
  return sums;
}

Task<Exposition> fetch_metrics(tcp::endpoint admin) {
  tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect(admin, asio::as_tuple(asio::use_awaitable));
  Wire wire(std::move(socket));
  co_await wire.write("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(admin.port()) +
                      "\r\nConnection: close\r\n\r\n");
  const auto head = co_await wire.read_head();
  if (!head || head->status() != 200) throw std::runtime_error("no /metrics");
  Body body(wire, *head, HttpReader::Kind::response);
  std::string text;
  for (;;) {
    const std::string_view piece = co_await body.next();
    if (piece.empty()) break;
    text.append(piece);
  }
  co_return Exposition(text);
}

}  // namespace reprise::soak
