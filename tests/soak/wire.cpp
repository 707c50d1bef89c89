#include "tests/soak/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "proxy/policy/ascii.hpp"

namespace reprise::soak {
namespace {

constexpr auto outcome = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t room_bytes = std::size_t{64} * 1024;

std::uint64_t number_in(std::string_view text, int base) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

std::string_view Head::first_line() const { return std::string_view(text_).substr(0, text_.find("\r\n")); }

std::optional<std::string_view> Head::field(std::string_view name) const {
  std::string_view rest = text_;
  for (std::size_t end = rest.find("\r\n"); end != std::string_view::npos; end = rest.find("\r\n")) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (!policy::equals_ignoring_case(line.substr(0, name.size()), name)) continue;
    std::string_view value = line.substr(name.size() + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    return value;
  }
  return std::nullopt;
}

std::uint64_t Head::number(std::string_view name) const { return number_in(field(name).value_or(""), 10); }

bool Head::has(std::string_view name, std::string_view value) const {
  const auto found = field(name);
  return found && policy::equals_ignoring_case(*found, value);
}

int Head::status() const {
  const std::string_view line = first_line();
  return line.size() < 12 ? 0 : static_cast<int>(number_in(line.substr(9, 3), 10));
}

Framing framing_of_request(const Head& head) {
  if (head.has("Transfer-Encoding", "chunked")) return Framing::chunked;
  return head.field("Content-Length") ? Framing::counted : Framing::none;
}

Framing framing_of_response(const Head& head, std::string_view method) {
  const int status = head.status();
  if (method == "HEAD" || status == 204 || status == 304 || status < 200) return Framing::none;
  if (method == "CONNECT" && status < 300) return Framing::none;
  if (head.has("Transfer-Encoding", "chunked")) return Framing::chunked;
  return head.field("Content-Length") ? Framing::counted : Framing::until_close;
}

Wire::Wire(tcp::socket socket) : socket_(std::move(socket)), room_(room_bytes) {
  boost::system::error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
}

Task<bool> Wire::more() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (end_ == room_.size()) {
    if (begin_ == 0) co_return false;
    std::copy(room_.begin() + static_cast<std::ptrdiff_t>(begin_),
              room_.begin() + static_cast<std::ptrdiff_t>(end_), room_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  const auto free_room = asio::buffer(room_.data() + end_, room_.size() - end_);
  const auto [error, bytes] = co_await socket_.async_read_some(free_room, outcome);
  end_ += bytes;
  finished_ = error == asio::error::eof;
  co_return !error;
}

Task<std::optional<Head>> Wire::read_head() {
  for (;;) {
    const std::size_t end = at_hand().find("\r\n\r\n");
    if (end != std::string_view::npos) {
      Head head(std::string(at_hand().substr(0, end + 4)));
      consume(end + 4);
      co_return head;
    }
    const bool there_is_more = co_await more();
    if (!there_is_more) co_return std::nullopt;
  }
}

Task<std::optional<std::string>> Wire::read_line() {
  for (;;) {
    const std::size_t end = at_hand().find("\r\n");
    if (end != std::string_view::npos) {
      std::string line(at_hand().substr(0, end));
      consume(end + 2);
      co_return line;
    }
    const bool there_is_more = co_await more();
    if (!there_is_more) co_return std::nullopt;
  }
}

Task<bool> Wire::write(std::string_view bytes) {
  const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(bytes), outcome);
  co_return !error;
}

Task<void> Wire::drain() {
  bool there_is_more = true;
  while (there_is_more) {
    consume(at_hand().size());
    there_is_more = co_await more();
  }
}

void Wire::reset() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  close();
}

void Wire::finish() {
  boost::system::error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Wire::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

Task<std::string_view> Body::take(std::size_t most) {
  if (wire_.at_hand().empty()) {
    const bool there_is_more = co_await wire_.more();
    if (!there_is_more) co_return std::string_view();
  }
  const std::string_view piece = wire_.at_hand().substr(0, most);
  lent_ = piece.size();
  co_return piece;
}

Task<std::string_view> Body::next(std::size_t most) {
  wire_.consume(std::exchange(lent_, 0));
  if (framing_ == Framing::none) {
    whole_ = true;
    co_return std::string_view();
  }
  if (framing_ == Framing::until_close) {
    const std::string_view piece = co_await take(most);
    whole_ = piece.empty() && wire_.finished();
    co_return piece;
  }
  if (framing_ == Framing::chunked && left_ == 0) {
    const bool understood = co_await next_chunk();
    if (!understood) co_return std::string_view();
  }
  if (left_ == 0) {
    whole_ = true;
    co_return std::string_view();
  }
  const std::string_view piece = co_await take(std::min<std::uint64_t>(most, left_));
  left_ -= piece.size();
  co_return piece;
}

// False where the body is broken; `left_` is 0 behind the last chunk.
Task<bool> Body::next_chunk() {
  if (whole_) co_return true;
  if (in_chunk_) {
    const auto end_of_chunk = co_await wire_.read_line();
    if (end_of_chunk != "") co_return false;
  }
  const auto line = co_await wire_.read_line();
  if (!line || line->empty()) co_return false;
  left_ = number_in(*line, 16);
  in_chunk_ = true;
  if (left_ > 0) co_return true;
  for (;;) {
    const auto trailer = co_await wire_.read_line();
    if (!trailer) co_return false;
    if (trailer->empty()) co_return true;
  }
}

Task<void> pause(std::uint64_t milliseconds) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(milliseconds));
  co_await timer.async_wait(outcome);
}

}  // namespace reprise::soak
