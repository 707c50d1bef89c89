// An upstream's response: its head, and its body on the connection, read as far as it was held back, or read
// whole and kept.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "proxy/forward/replay/upload.hpp"
#include "proxy/net/io/body_reader.hpp"
#include "proxy/net/upstream/pool.hpp"

namespace reprise::forward {

/// A request that is still being sent though the head of its response is there (row C5).
class OvertakenRequest {
 public:
  virtual ~OvertakenRequest() = default;
  virtual Upload& upload() = 0;
};

/// Movable as a whole, but for the time that its body is being read.
struct Response {
  unsigned number = 0;  ///< the attempt that brought it; 0: none
  http::ResponseHead head;
  net::Buffer buffer;  ///< holds the head as it came, and body bytes that came with it
  std::unique_ptr<net::UpstreamConnection> connection;
  /// What is left of its request, on the same connection; to be stopped before `clear`.
  std::unique_ptr<OvertakenRequest> sending;
  std::string body;                     ///< what was held back of it; of a kept response, all
  net::BodyReader reader;               ///< of what follows
  std::optional<net::BodyStep> broken;  ///< how the body ended right after what was held back
  std::string trailers;
  bool begun = false;     ///< some of the body was read
  bool overtook = false;  ///< its head came before its request was sent whole: nothing is asked for again
  bool kept = false;      ///< `body` is the whole body
  bool reusable = false;  ///< the connection may serve again once the body was read to its end

  bool any() const { return number != 0; }
  /// The reader, set on the body's first byte, or on the one that follows `body`.
  net::BodyReader& begin_body();
  /// True while its request is being sent.
  bool is_sending() const { return sending != nullptr && sending->upload().end() == UploadEnd::running; }
  /// Ends what is left of its request. The connection serves for reading alone afterwards, unless all was
  /// sent.
  Task<void> stop_sending();
  void clear();
};

/// Empties the text; its memory goes too where it is more than a block.
void give_back(std::string& text);

/// Gives the connection of a wholly read response back to its pool, or closes it; keeps it while the request
/// is still being sent. `surplus`: bytes lay behind the body.
void finish_connection(net::Pool&, Response&, bool surplus);

/// The whole body is in `response.body`: makes it a kept response and lets its connection go.
void keep_whole(net::Pool&, Response& response);

/// Reads the body into `response.body` if it ends within `most` bytes and before `until`; else drops the
/// response and its connection. What is kept is what the client gets if nothing better follows.
Task<void> keep_response(net::Pool&, Response& response, std::size_t most, Instant until);

}  // namespace reprise::forward
