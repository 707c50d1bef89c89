#include "proxy/net/io/stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <boost/asio/redirect_error.hpp>

namespace reprise::net {
namespace {

constexpr int keepalive_idle_seconds = 30;
constexpr int keepalive_interval_seconds = 10;
constexpr int keepalive_probes = 3;

void set_option(int descriptor, int level, int name, int value) {
  static_cast<void>(::setsockopt(descriptor, level, name, &value, sizeof value));
}

std::unique_ptr<Link> take_link(Carrier& carrier) {
  auto* link = std::get_if<std::unique_ptr<Link>>(&carrier);
  return link == nullptr ? nullptr : std::move(*link);
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

Stream::Stream(Tick& tick, Carrier carrier)
    : tick_(tick),
      link_(take_link(carrier)),
      socket_(link_ == nullptr ? std::get<tcp::socket>(std::move(carrier)) : tcp::socket(link_->executor())) {
  ErrorCode ignored;
  if (socket_.is_open()) socket_.non_blocking(true, ignored);
}

// Returns Asio's awaitable directly, to avoid a coroutine frame.
ReadTask Stream::read_some(asio::mutable_buffer into) {
  if (cancelled_ || limit_hit_) return aborted();
  return link_ == nullptr ? socket_.async_read_some(into, as_result) : link_->read_some(into);
}

Task<ErrorCode> Stream::wait_readable() {
  if (cancelled_ || limit_hit_) co_return asio::error::operation_aborted;
  if (link_ != nullptr) co_return co_await link_->wait_readable();
  const auto [error] = co_await socket_.async_wait(tcp::socket::wait_read, as_result);
  co_return error;
}

Task<ErrorCode> Stream::wait_writable(Duration idle) {
  if (cancelled_ || writing_ended_) co_return asio::error::operation_aborted;
  write_limit_.arm(tick_, idle);
  ErrorCode error;
  do {
    if (link_ != nullptr) {
      error = co_await link_->wait_writable();
    } else {
      std::tie(error) = co_await socket_.async_wait(tcp::socket::wait_write, as_result);
    }
  } while (goes_on(error));
  Tick::disarm(write_limit_);
  co_return error;
}

// Returns true if the wait must be repeated. `end_read` aborts every wait on the socket, but a pending write
// must continue (row L29).
bool Stream::goes_on(const ErrorCode& error) const {
  return error == asio::error::operation_aborted && !cancelled_ && !writing_ended_ && !write_limit_.hit() &&
         open();
}

ErrorCode Stream::write_now(Gather& pieces) {
  ErrorCode error;
  if (cancelled_ || writing_ended_) return asio::error::operation_aborted;
  if (pieces.empty()) return error;
  const std::size_t bytes = write_some(pieces.parts(), error);
  count_sent(bytes);
  pieces.consume(bytes);
  if (error == asio::error::would_block || error == asio::error::try_again) error.clear();
  return error;
}

std::size_t Stream::write_some(std::span<const asio::const_buffer> parts, ErrorCode& error) {
  if (link_ != nullptr) {
    sent_ = sent_ || link_->sealed();
    return link_->write_some(parts, error);
  }
  // For a single piece send(2) is cheaper than sendmsg(2).
  return parts.size() == 1 ? socket_.write_some(parts.front(), error) : socket_.write_some(parts, error);
}

Task<ErrorCode> Stream::write_all(Gather& pieces, Duration idle) {
  ErrorCode error = write_now(pieces);
  while (!error && !pieces.empty()) {
    if (link_ != nullptr) {
      error = co_await wait_writable(idle);
      if (!error) error = write_now(pieces);
      continue;
    }
    if (cancelled_ || writing_ended_) co_return asio::error::operation_aborted;
    write_limit_.arm(tick_, idle);
    do {
      std::size_t bytes = 0;
      std::tie(error, bytes) = co_await socket_.async_write_some(pieces.parts(), as_result);
      count_sent(bytes);
      pieces.consume(bytes);
    } while (goes_on(error));
    Tick::disarm(write_limit_);
  }
  co_return error;
}

Task<ErrorCode> Stream::connect(const tcp::endpoint& endpoint, Instant due) {
  if (cancelled_) co_return asio::error::operation_aborted;
  connect_began_ = Tick::now();
  write_limit_.arm_until(tick_, due);
  ErrorCode error;
  if (link_ != nullptr) {
    error = co_await link_->connect(endpoint);
  } else {
    error = co_await connect_socket(endpoint);
  }
  Tick::disarm(write_limit_);
  co_return error;
}

tcp::endpoint Stream::begin_connect(const tcp::endpoint& endpoint) {
  assert(is_socket());
  ErrorCode error;
  if (!socket_.is_open()) socket_.open(endpoint.protocol(), error);
  if (!error) socket_.non_blocking(true, error);
  if (!error &&
      ::connect(socket_.native_handle(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
    error = ErrorCode(errno, boost::system::system_category());
  begun_ = error;
  ErrorCode nowhere;
  return socket_.local_endpoint(nowhere);
}

// Waits until a connect that has begun succeeds or fails. `begun`: the result of starting the connect.
Task<ErrorCode> Stream::end_connect(ErrorCode begun) {
  if (begun == asio::error::in_progress) {
    std::tie(begun) = co_await socket_.async_wait(tcp::socket::wait_write, as_result);
    int socket_error = 0;
    socklen_t size = sizeof socket_error;
    if (!begun && ::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_ERROR, &socket_error, &size) == 0 &&
        socket_error != 0)
      begun = ErrorCode(socket_error, boost::system::system_category());
  }
  if (!begun) tune();
  co_return begun;
}

Task<ErrorCode> Stream::connect_socket(tcp::endpoint endpoint) {
  if (begun_) co_return co_await end_connect(*std::exchange(begun_, std::nullopt));
  ErrorCode error;
  socket_.open(endpoint.protocol(), error);
  if (error) co_return error;
  const auto [failure] = co_await socket_.async_connect(endpoint, as_result);
  if (!failure) {
    socket_.non_blocking(true, error);
    tune();
  }
  co_return failure;
}

Carrier Stream::release() {
  Tick::disarm(read_limit_);
  Tick::disarm(write_limit_);
  if (link_ != nullptr) return std::move(link_);
  return std::move(socket_);
}

void Stream::Limit::time_is_up() {
  hit_ = true;
  stream_.limit_hit_ = true;
  stream_.end_waits();
}

void Stream::end_waits() {
  ErrorCode ignored;
  if (link_ != nullptr) {
    link_->cancel();
  } else {
    socket_.cancel(ignored);
  }
}

void Stream::cancel() {
  cancelled_ = true;
  end_waits();
}

void Stream::end_read() { end_waits(); }

void Stream::end_writing() {
  writing_ended_ = true;
  end_waits();
}

void Stream::finish_sending() {
  if (link_ != nullptr) return link_->finish_sending();
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

Unread Stream::unread() { return link_ != nullptr ? link_->unread() : unread_of(socket_.native_handle()); }

std::size_t Stream::peek(asio::mutable_buffer into) {
  if (link_ != nullptr) return 0;
  const ssize_t bytes = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_PEEK | MSG_DONTWAIT);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

Presence Stream::presence() {
  return link_ != nullptr ? link_->presence() : presence_of(socket_.native_handle());
}

bool Stream::seems_dead(Duration since) {
  return link_ != nullptr ? link_->seems_dead(since) : is_dead_peer(socket_.native_handle(), since);
}

void Stream::break_sending() { link_ != nullptr ? link_->break_sending() : finish_sending(); }

void Stream::close() {
  if (link_ != nullptr) return link_->close();
  ErrorCode ignored;
  socket_.close(ignored);
}

void Stream::cut() {
  if (link_ != nullptr) return link_->cut();
  ErrorCode ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void Stream::tune() {
  if (link_ == nullptr) net::tune(socket_);
}

void tune(tcp::socket& socket) {
  const int descriptor = socket.native_handle();
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_seconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_seconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
}

void Stream::set_user_timeout(Duration limit) {
  if (limit == user_timeout_) return;
  user_timeout_ = limit;
  const int descriptor = link_ != nullptr ? link_->descriptor() : socket_.native_handle();
  if (descriptor < 0) return;
  // A TCP_USER_TIMEOUT of zero selects the system's default.
  const std::int64_t milliseconds =
      limit == policy::no_limit
          ? 0
          : std::clamp<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count(), 1,
                                     std::numeric_limits<int>::max());
  set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(milliseconds));
}

void Stream::limit_unsent(int bytes) {
  const int descriptor = link_ != nullptr ? link_->descriptor() : socket_.native_handle();
  if (descriptor >= 0) set_option(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
}

}  // namespace reprise::net
