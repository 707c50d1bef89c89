#include "tests/support/raw_socket.hpp"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "tests/support/loopback_address.hpp"

namespace reprise::play {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

RawSocket::RawSocket(int descriptor) : descriptor_(descriptor) {
  if (descriptor_ < 0) return;
  const int on = 1;
  static_cast<void>(::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

RawSocket::RawSocket(RawSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)),
      wire_(other.wire_) {}

RawSocket& RawSocket::operator=(RawSocket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    received_ = std::move(other.received_);
    wire_ = other.wire_;
  }
  return *this;
}

RawSocket::~RawSocket() { close(); }

RawSocket RawSocket::connect_to(std::uint16_t port) {
  RawSocket socket = unconnected();
  socket.connect(port);
  return socket;
}

RawSocket RawSocket::unconnected() { return RawSocket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

bool RawSocket::connect(std::uint16_t port) {
  const sockaddr address = loopback_address(port);
  if (::connect(descriptor_, &address, sizeof address) == 0) return true;
  close();
  return false;
}

bool RawSocket::wait_for(short events, milliseconds limit) const {
  pollfd asked{descriptor_, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&asked, 1, static_cast<int>(limit.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for(POLLOUT, patience)) return false;
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawSocket::send_bytewise(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!send(bytes.substr(i, 1))) return false;
  }
  return true;
}

bool RawSocket::read_more(milliseconds limit) {
  if (!open() || wire_ != Wire::open || !wait_for(POLLIN, limit)) return false;
  std::array<char, 65536> piece{};
  const auto got = ::recv(descriptor_, piece.data(), piece.size(), 0);
  if (got > 0) {
    received_.append(piece.data(), static_cast<std::size_t>(got));
    return true;
  }
  wire_ = got == 0 ? Wire::fin : Wire::reset;
  return false;
}

bool RawSocket::read_until(std::string_view text, milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (received_.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left < milliseconds::zero() || !read_more(left)) return false;
  }
  return true;
}

bool RawSocket::read_bytes(std::size_t bytes, milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (received_.size() < bytes) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left < milliseconds::zero() || !read_more(left)) return false;
  }
  return true;
}

Wire RawSocket::read_to_end(milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (wire_ == Wire::open) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left < milliseconds::zero()) break;
    if (!read_more(left) && wire_ == Wire::open) break;
  }
  return wire_;
}

std::size_t RawSocket::unacknowledged() const {
  int bytes = 0;
  return ::ioctl(descriptor_, TIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::string RawSocket::take(std::size_t bytes) {
  std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

void RawSocket::finish_sending() { ::shutdown(descriptor_, SHUT_WR); }

void RawSocket::vanish() const {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &nothing};
  static_cast<void>(::setsockopt(descriptor_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
}

void RawSocket::reset() {
  const linger at_once{1, 0};
  static_cast<void>(::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  close();
}

void RawSocket::close() {
  const std::scoped_lock lock(closing_);
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void RawSocket::wake() {
  const std::scoped_lock lock(closing_);
  ::shutdown(descriptor_, SHUT_RDWR);
}

void yield_a_moment() { std::this_thread::sleep_for(milliseconds(1)); }

}  // namespace reprise::play
