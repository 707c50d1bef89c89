// A blocking client for tests: raw requests out, whole responses in, and how the connection ended.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/http_reader.hpp"
#include "tests/support/raw_socket.hpp"

namespace reprise::play {

/// One response as it came: nothing is decoded but its framing.
struct WireResponse {
  int status = 0;    ///< 0: no whole head came
  std::string head;  ///< with its blank line
  std::string body;  ///< chunk framing taken off; trailer lines stand behind it
  bool whole = false;
  bool chunked = false;

  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
  /// The value of the first field line of that name; else "".
  std::string field(std::string_view name) const { return field_of(head, name); }
};

/// Reads from the socket to the end of the reader's message, or of the connection. `as_sent` gets all bytes
/// of the message, framing included.
void receive(RawSocket&, HttpReader&, const HttpReader::Sink& body, std::string* as_sent = nullptr);

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(RawSocket::connect_to(port)) {}
  explicit RawClient(RawSocket socket) : socket_(std::move(socket)) {}

  RawSocket& socket() { return socket_; }
  void send(std::string_view bytes) { static_cast<void>(socket_.send(bytes)); }

  /// The next response, final or interim. `no_body`: it answers a HEAD, or an interim one is expected.
  WireResponse read_response() { return read(HttpReader::Kind::response); }
  WireResponse read_response_without_body() { return read(HttpReader::Kind::head); }
  /// Sends, and reads one response.
  WireResponse ask(std::string_view request) {
    send(request);
    return read_response();
  }

 private:
  WireResponse read(HttpReader::Kind kind);

  RawSocket socket_;
};

}  // namespace reprise::play
