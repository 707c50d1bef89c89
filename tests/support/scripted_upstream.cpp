#include "tests/support/scripted_upstream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace reprise::play {
namespace {

constexpr std::string_view blank_line = "\r\n\r\n";

std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "\r\nContent-Length: ";
  const auto place = head.find(name);
  if (place == std::string_view::npos) return 0;
  std::size_t length = 0;
  const std::string_view digits = head.substr(place + name.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return length;
}

std::string read_line(RawSocket& socket) {
  return socket.read_until("\r\n") ? socket.take(socket.received().find("\r\n") + 2) : std::string();
}

// By its sizes, framing and trailers included: the data of a chunk may look like the end of them all. Empty
// if it ends early.
std::string read_chunks(RawSocket& socket) {
  std::string body;
  std::size_t size = 1;
  while (size > 0) {
    const std::string line = read_line(socket);
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (line.empty()) return {};
    body += line;
    if (size == 0) break;
    if (!socket.read_bytes(size + 2)) return {};
    body += socket.take(size + 2);
  }
  for (std::string line = read_line(socket);; line = read_line(socket)) {
    if (line.empty()) return {};
    body += line;
    if (line == "\r\n") return body;
  }
}

}  // namespace

std::string Peer::read_head() {
  if (!socket.read_until(blank_line)) return {};
  return socket.take(socket.received().find(blank_line) + blank_line.size());
}

std::string Peer::read_request() {
  std::string head = read_head();
  if (head.empty()) return head;
  if (head.find("\r\nTransfer-Encoding: chunked") != std::string::npos) {
    const std::string body = read_chunks(socket);
    return body.empty() ? body : head + body;
  }
  const std::size_t length = content_length(head);
  if (!socket.read_bytes(length)) return {};
  return head + socket.take(length);
}

ScriptedUpstream::ScriptedUpstream(Script script)
    : script_(std::move(script)), listener_(port_.listen()), acceptor_([this] { accept(); }) {}

ScriptedUpstream::~ScriptedUpstream() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (Connection& connection : connections_) connection.peer.socket.wake();
  }
  stop_listening();
  acceptor_.join();
  for (Connection& connection : connections_) connection.thread.join();
  ::close(listener_);
}

void ScriptedUpstream::stop_listening() { ::shutdown(listener_, SHUT_RDWR); }

void ScriptedUpstream::accept() {
  for (;;) {
    pollfd asked{listener_, POLLIN, 0};
    static_cast<void>(::poll(&asked, 1, -1));
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) yield_a_moment();  // no descriptor left, or it listens no more
    const std::scoped_lock lock(mutex_);
    if (ending_) {
      if (descriptor >= 0) ::close(descriptor);
      return;
    }
    if (descriptor < 0) continue;
    Connection& connection = connections_.emplace_back();
    connection.peer.socket = RawSocket(descriptor);
    connection.peer.number = ++accepted_;
    ++running_;
    connection.thread = std::thread([this, &connection] { run(connection); });
  }
}

void ScriptedUpstream::run(Connection& connection) {
  script_(connection.peer);
  const std::scoped_lock lock(mutex_);
  connection.peer.socket.close();
  --running_;
}

ScriptedUpstream::Script answers(std::vector<std::string> in_turn) {
  struct Turn {
    std::vector<std::string> texts;
    std::atomic<std::size_t> next{0};
  };
  const auto turn = std::make_shared<Turn>();
  turn->texts = std::move(in_turn);
  return [turn](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.send(turn->texts[std::min(turn->next.fetch_add(1), turn->texts.size() - 1)]);
    }
  };
}

void Heard::add(std::string message) {
  const std::scoped_lock lock(mutex_);
  messages_.push_back(std::move(message));
}

std::size_t Heard::size() const {
  const std::scoped_lock lock(mutex_);
  return messages_.size();
}

std::string Heard::at(std::size_t index) const {
  const std::scoped_lock lock(mutex_);
  return messages_.at(index);
}

std::string answer(int status, std::string_view body, std::string_view fields) {
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " Told\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
  text.append(fields).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return text.append(body);
}

}  // namespace reprise::play
