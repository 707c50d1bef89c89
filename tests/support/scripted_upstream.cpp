#include "tests/support/scripted_upstream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tests/support/raw_client.hpp"

namespace reprise::play {
namespace {

std::string read(RawSocket& socket, HttpReader::Kind kind) {
  std::string text;
  HttpReader reader(kind);
  receive(
      socket, reader, [](std::string_view) {}, &text);
  return reader.complete() ? text : std::string();
}

}  // namespace

std::string Peer::read_head() { return read(socket, HttpReader::Kind::head); }

std::string Peer::read_request() { return read(socket, HttpReader::Kind::request); }

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
    if (descriptor < 0) yield_a_moment();  // no free descriptor, or the listener is shut down
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

ScriptedUpstream::Script responses(std::vector<std::string> in_turn) {
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

std::string response(int status, std::string_view body, std::string_view fields) {
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " Told\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
  text.append(fields).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return text.append(body);
}

}  // namespace reprise::play
