// An upstream's response: its head, and a body that is partly held, completely held, or still on the
// connection.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/replay/upload.hpp"
#include "proxy/net/ends/body_reader.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/upstream/lease.hpp"

namespace reprise::forward {

/// A request that is still being sent although its response head has arrived (row C5).
class OvertakenRequest {
 public:
  virtual ~OvertakenRequest() = default;
  virtual Upload& upload() = 0;
};

/// Movable unless its body is being read.
struct Response {
  unsigned number = 0;  ///< number of the attempt that got the response; 0: no response
  http::ResponseHead head;
  net::Buffer buffer;  ///< head bytes, and the body bytes that came with them
  net::Lease connection;
  /// The part of the request that is still being sent on the same connection. Call `stop_sending` before
  /// `clear`.
  std::unique_ptr<OvertakenRequest> sending;
  std::string body;        ///< the held part of the body; the whole body if `kept`
  net::BodyReader reader;  ///< over HTTP/1: reads the bytes that follow `body`
  /// How the body broke after the held part; absent if it did not break.
  std::optional<net::BodyStep> broken;
  std::string trailers;
  bool begun = false;     ///< a part of the body was read
  bool overtook = false;  ///< the head came before the whole request was sent: no retry, no resume
  bool kept = false;      ///< `body` is the whole body
  bool reusable = false;  ///< the connection may be used again after the body is read to its end

  bool any() const { return number != 0; }
  /// Returns the reader of the body. If a part of the body was read, the reader continues after `body`.
  net::BodySource& begin_body();
  /// Returns the same reader. Precondition: `begin_body` was called.
  net::BodySource& body_source() {
    return connection.is_http2() ? static_cast<net::BodySource&>(connection.stream().stream()) : reader;
  }
  /// Returns true while the request is still being sent.
  bool is_sending() const { return sending != nullptr && sending->upload().end() == UploadEnd::running; }
  /// Stops sending the request. Afterwards the connection can only be read from, unless the whole request was
  /// sent.
  Task<void> stop_sending();
  void clear();

 private:
  /// Returns true if the last `clear` is still in effect.
  bool is_clear() const;
};

/// Empties the text. Releases the text's memory if the memory is larger than a block.
void give_back(std::string& text);

/// Returns the connection of a completely read response to its pool, or closes it. While the request is still
/// being sent, keeps the connection. `surplus`: bytes followed the body.
void finish_connection(net::Pool&, Response&, bool surplus);

/// Turns the response into a kept response and releases its connection. Precondition: `response.body` is the
/// whole body.
void keep_whole(net::Pool&, Response& response);

/// Reads the body into `response.body` if it ends within `most` bytes and before `until`. Otherwise discards
/// the response and its connection. The client gets the kept response if no better one follows.
Task<void> keep_response(net::Pool&, Response& response, std::size_t most, Instant until);

}  // namespace reprise::forward
