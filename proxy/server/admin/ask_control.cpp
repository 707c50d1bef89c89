#include "proxy/server/admin/ask_control.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "proxy/server/admin/control_path.hpp"

namespace reprise::server {
namespace {

std::string words_of(int error) { return std::generic_category().message(error); }

/// A connection to the socket at `path`, or the errno if connecting failed.
class Line {
 public:
  explicit Line(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    if (descriptor_ < 0) {
      error_ = errno;
    } else if (path.size() >= sizeof address.sun_path) {
      error_ = ENAMETOOLONG;
    } else {
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path, path.data(), path.size());
      if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        error_ = errno;
    }
  }
  ~Line() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  int error() const { return error_; }

  void set_timeout(std::chrono::seconds timeout) const {
    const timeval limit{timeout.count(), 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  int send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) return errno;
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return 0;
  }
  /// Reads until the end of the stream. Returns 0 or an errno.
  int read_all(std::string& text) const {
    std::array<char, 4096> piece{};
    for (;;) {
      const ssize_t count = ::recv(descriptor_, piece.data(), piece.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno;
      if (count == 0) return 0;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
  int error_ = 0;
};

std::string why_not(const std::string& path, int error) {
  if (error == ENOENT || error == ECONNREFUSED)
    return "no process listens at " + path + ": check that reprise is running with admin.control: " + path;
  if (error == EACCES)
    return path + ": permission denied: run this command as root or as the user that reprise runs as";
  return path + ": " + words_of(error);
}

}  // namespace

int try_control(const std::string& path) { return Line(path).error(); }

ControlResponse ask_control(const std::string& path, std::string_view command, std::chrono::seconds timeout) {
  const Line line(path);
  if (line.error() != 0) return {false, why_not(path, line.error())};
  line.set_timeout(timeout);
  std::string text;
  int error = line.send(std::string(command) + "\n");
  if (error == 0) error = line.read_all(text);
  if (error == EAGAIN || error == EWOULDBLOCK)
    return {false, path + ": no response within " + std::to_string(timeout.count()) +
                       " s; look at the log of reprise, and run reprise status"};
  if (error != 0) return {false, path + ": " + words_of(error)};
  if (text.ends_with('\n')) text.pop_back();
  const std::size_t end = text.find('\n');
  const std::string_view first = std::string_view(text).substr(0, end);
  if (first != "ok" && first != "error")
    return {false, path + ": the response does not come from reprise; check the path"};
  return {first == "ok", end == std::string::npos ? std::string() : text.substr(end + 1)};
}

}  // namespace reprise::server
