// Receives, in place of the service manager, what a process sends to NOTIFY_SOCKET.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace reprise::play {

/// `address` is a path or `@name`, as in NOTIFY_SOCKET.
class NotifyListener {
 public:
  explicit NotifyListener(const std::string& address)
      : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, address.data(), address.size());
    if (at.sun_path[0] == '@') at.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&at), length), 0) << address;
  }
  ~NotifyListener() { ::close(descriptor_); }
  NotifyListener(const NotifyListener&) = delete;
  NotifyListener& operator=(const NotifyListener&) = delete;

  /// Returns the next datagram; "nothing" if there is none.
  std::string heard() const {
    std::string bytes(1000, '\0');
    const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    return count < 0 ? "nothing" : bytes.substr(0, static_cast<std::size_t>(count));
  }

 private:
  int descriptor_;
};

}  // namespace reprise::play
