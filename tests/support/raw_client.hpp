// A blocking client for tests: sends raw requests, reads whole responses, and shows how the connection ended.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/http_reader.hpp"
#include "tests/support/raw_socket.hpp"

namespace reprise::play {

/// One response as it was received. Only its framing is decoded.
struct WireResponse {
  int status = 0;    ///< status code; 0: no whole head was received
  std::string head;  ///< the head with its empty line
  std::string body;  ///< the body without chunk framing; trailer lines are appended
  bool whole = false;
  bool chunked = false;

  bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
  /// Returns the value of the first field line with this name; "" if there is none.
  std::string field(std::string_view name) const { return field_of(head, name); }
};

/// Reads from the socket to the end of the reader's message or of the connection. Appends all bytes of the
/// message, framing included, to `as_sent` unless it is null.
void receive(RawSocket&, HttpReader&, const HttpReader::Sink& body, std::string* as_sent = nullptr);

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(RawSocket::connect_to(port)) {}
  explicit RawClient(RawSocket socket) : socket_(std::move(socket)) {}

  RawSocket& socket() { return socket_; }
  void send(std::string_view bytes) { static_cast<void>(socket_.send(bytes)); }

  /// Reads the next response. For an interim response or a response to HEAD, call
  /// read_response_without_body() instead.
  WireResponse read_response() { return read(HttpReader::Kind::response); }
  WireResponse read_response_without_body() { return read(HttpReader::Kind::head); }
  /// Sends the request and reads one response.
  WireResponse ask(std::string_view request) {
    send(request);
    return read_response();
  }

 private:
  WireResponse read(HttpReader::Kind kind);

  RawSocket socket_;
};

}  // namespace reprise::play
