// A blocking client for tests: raw requests out, whole answers in, and how the connection ended.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "tests/support/raw_socket.hpp"

namespace reprise::play {

/// One answer as it came: nothing is decoded but its framing.
struct WireAnswer {
  int status = 0;    ///< 0: no whole head came
  std::string head;  ///< with its blank line
  std::string body;  ///< chunk framing taken off
  bool whole = false;
  bool chunked = false;

  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
  /// The value of the first field line of that name, in the spelling that reprise uses; else "".
  std::string field(std::string_view name) const {
    const std::string key = "\r\n" + std::string(name) + ": ";
    const auto place = head.find(key);
    if (place == std::string::npos) return {};
    const auto start = place + key.size();
    return head.substr(start, head.find("\r\n", start) - start);
  }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(RawSocket::connect_to(port)) {}

  RawSocket& socket() { return socket_; }
  void send(std::string_view bytes) { static_cast<void>(socket_.send(bytes)); }

  /// The next answer, final or interim. `no_body`: it answers a HEAD, or an interim one is expected.
  WireAnswer read_answer() { return read(true); }
  WireAnswer read_answer_without_body() { return read(false); }
  /// Sends, and reads one answer.
  WireAnswer ask(std::string_view request) {
    send(request);
    return read_answer();
  }

 private:
  WireAnswer read(bool body_follows) {
    WireAnswer answer;
    if (!socket_.read_until("\r\n\r\n")) return answer;
    answer.head = socket_.take(socket_.received().find("\r\n\r\n") + 4);
    const std::string_view head = answer.head;
    std::from_chars(head.data() + 9, head.data() + 12, answer.status);
    const bool bodiless = answer.status < 200 || answer.status == 204 || answer.status == 304;
    if (!body_follows || bodiless) {
      answer.whole = true;
    } else if (answer.has("\r\nTransfer-Encoding: chunked\r\n")) {
      answer.chunked = true;
      answer.whole = read_chunks(answer.body);
    } else if (const std::string length = answer.field("Content-Length"); !length.empty()) {
      answer.whole = socket_.read_bytes(std::stoul(length));
      answer.body = socket_.take(std::stoul(length));
    } else {
      answer.whole = socket_.read_to_end() == Wire::fin;
      answer.body = socket_.take_all();
    }
    return answer;
  }

  bool read_chunks(std::string& body) {
    for (;;) {
      if (!socket_.read_until("\r\n")) return false;
      const std::string line = socket_.take(socket_.received().find("\r\n") + 2);
      std::size_t size = 0;
      std::from_chars(line.data(), line.data() + line.size(), size, 16);
      if (size == 0) return read_trailers(body);
      if (!socket_.read_bytes(size + 2)) {
        body += socket_.take_all();
        return false;
      }
      body += socket_.take(size);
      if (socket_.take(2) != "\r\n") return false;
    }
  }

  // Trailer lines are appended behind the body: the tests that send them look for them there.
  bool read_trailers(std::string& body) {
    for (;;) {
      if (!socket_.read_until("\r\n")) return false;
      const std::string line = socket_.take(socket_.received().find("\r\n") + 2);
      if (line == "\r\n") return true;
      body += line;
    }
  }

  RawSocket socket_;
};

}  // namespace reprise::play
