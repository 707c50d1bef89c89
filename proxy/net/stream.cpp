#include "proxy/net/stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/redirect_error.hpp>

namespace reprise::net {
namespace {

constexpr int keepalive_idle_seconds = 30;
constexpr int keepalive_interval_seconds = 10;
constexpr int keepalive_probes = 3;

void set_option(int descriptor, int level, int name, int value) {
  static_cast<void>(::setsockopt(descriptor, level, name, &value, sizeof value));
}

ReadTask aborted() { co_return std::tuple(ErrorCode(asio::error::operation_aborted), std::size_t{0}); }

}  // namespace

void Gather::consume(std::size_t bytes) {
  while (bytes > 0 && first_ < last_) {
    if (bytes < parts_[first_].size()) {
      parts_[first_] += bytes;
      return;
    }
    bytes -= parts_[first_].size();
    ++first_;
  }
}

Stream::Stream(Tick& tick, tcp::socket socket) : tick_(tick), socket_(std::move(socket)) {
  ErrorCode ignored;
  if (socket_.is_open()) socket_.non_blocking(true, ignored);
}

// No coroutine of its own where it has nothing to add to Asio's.
ReadTask Stream::read_some(asio::mutable_buffer into) {
  return cancelled_ || limit_hit_ ? aborted() : socket_.async_read_some(into, as_result);
}

Task<ErrorCode> Stream::wait_readable() {
  if (cancelled_) co_return asio::error::operation_aborted;
  const auto [error] = co_await socket_.async_wait(tcp::socket::wait_read, as_result);
  co_return error;
}

Task<ErrorCode> Stream::wait_writable(Duration idle) {
  if (cancelled_ || writing_ended_) co_return asio::error::operation_aborted;
  tick_.arm(write_limit_, idle);
  const auto [error] = co_await socket_.async_wait(tcp::socket::wait_write, as_result);
  Tick::disarm(write_limit_);
  co_return error;
}

ErrorCode Stream::write_now(Gather& pieces) {
  ErrorCode error;
  if (cancelled_ || writing_ended_) return asio::error::operation_aborted;
  if (pieces.empty()) return error;
  // send(2) costs less than sendmsg(2) where one piece is all there is.
  const auto parts = pieces.parts();
  const std::size_t bytes =
      parts.size() == 1 ? socket_.write_some(parts.front(), error) : socket_.write_some(parts, error);
  accepted_ += bytes;
  pieces.consume(bytes);
  if (error == asio::error::would_block || error == asio::error::try_again) error.clear();
  return error;
}

Task<ErrorCode> Stream::write_all(Gather& pieces, Duration idle) {
  ErrorCode error = write_now(pieces);
  while (!error && !pieces.empty()) {
    if (cancelled_ || writing_ended_) co_return asio::error::operation_aborted;
    tick_.arm(write_limit_, idle);
    const auto [failure, bytes] = co_await socket_.async_write_some(pieces.parts(), as_result);
    Tick::disarm(write_limit_);
    accepted_ += bytes;
    pieces.consume(bytes);
    error = failure;
  }
  co_return error;
}

Task<ErrorCode> Stream::connect(const tcp::endpoint& endpoint, Duration limit) {
  if (cancelled_) co_return asio::error::operation_aborted;
  ErrorCode error;
  socket_.open(endpoint.protocol(), error);
  if (error) co_return error;
  tick_.arm(write_limit_, limit);
  const auto [failure] = co_await socket_.async_connect(endpoint, as_result);
  Tick::disarm(write_limit_);
  if (!failure) {
    socket_.non_blocking(true, error);
    tune(socket_);
  }
  co_return failure;
}

void Stream::Limit::time_is_up() {
  stream_.limit_hit_ = true;
  ErrorCode ignored;
  stream_.socket_.cancel(ignored);
}

void Stream::cancel() {
  cancelled_ = true;
  ErrorCode ignored;
  socket_.cancel(ignored);
}

void Stream::end_read() {
  ErrorCode ignored;
  socket_.cancel(ignored);
}

void Stream::end_writing() {
  writing_ended_ = true;
  ErrorCode ignored;
  socket_.cancel(ignored);
}

void Stream::finish_sending() {
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

bool Stream::has_unread() {
  char byte = 0;
  return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void Stream::close() {
  ErrorCode ignored;
  socket_.close(ignored);
}

void Stream::cut() {
  ErrorCode ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void tune(tcp::socket& socket) {
  const int descriptor = socket.native_handle();
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_seconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_seconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
}

void set_user_timeout(tcp::socket& socket, Duration limit) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  set_option(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(milliseconds));
}

}  // namespace reprise::net
