#include "tests/soak/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <utility>

namespace reprise::soak {
namespace {

constexpr std::size_t room_bytes = std::size_t{64} * 1024;

}  // namespace

std::string_view Head::first_line() const { return std::string_view(text_).substr(0, text_.find("\r\n")); }

std::optional<std::string_view> Head::field(std::string_view name) const { return play::field(text_, name); }

std::uint64_t Head::number(std::string_view name) const {
  return play::number(field(name).value_or("")).value_or(0);
}

bool Head::has(std::string_view name, std::string_view value) const {
  const auto found = field(name);
  return found && play::equals_in_any_case(*found, value);
}

HttpReader::Kind kind_of_response(std::string_view method) {
  return method == "HEAD" ? HttpReader::Kind::head : HttpReader::Kind::response;
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
  const auto [error, bytes] = co_await socket_.async_read_some(free_room, as_result);
  end_ += bytes;
  finished_ = error == asio::error::eof;
  co_return !error;
}

Task<std::optional<Head>> Wire::read_head() {
  HttpReader reader(HttpReader::Kind::head);
  for (;;) {
    consume(reader.next(at_hand()).used);
    if (reader.complete()) co_return Head(reader.head());
    if (reader.broken()) co_return std::nullopt;
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
  const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(bytes), as_result);
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

Task<std::string_view> Wire::take(std::size_t most) {
  consume(std::exchange(lent_, 0));
  if (at_hand().empty()) {
    const bool there_is_more = co_await more();
    if (!there_is_more) co_return std::string_view();
  }
  const std::string_view piece = at_hand().substr(0, most);
  lent_ = piece.size();
  co_return piece;
}

Body::Body(Wire& wire, const Head& head, HttpReader::Kind kind) : wire_(wire), reader_(kind) {
  reader_.next(head.text());
}

Task<std::string_view> Body::next(std::size_t most) {
  wire_.consume(std::exchange(lent_, 0));
  while (!reader_.over()) {
    if (wire_.at_hand().empty()) {
      const bool there_is_more = co_await wire_.more();
      if (!there_is_more) {
        if (wire_.finished()) reader_.finish();
        break;
      }
    }
    const HttpReader::Piece piece = reader_.next(wire_.at_hand().substr(0, most));
    if (!piece.body.empty()) {
      lent_ = piece.used;
      co_return piece.body;
    }
    wire_.consume(piece.used);
  }
  co_return std::string_view();
}

Task<void> pause(std::uint64_t milliseconds) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(milliseconds));
  co_await timer.async_wait(as_result);
}

}  // namespace reprise::soak
