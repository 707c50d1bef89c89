// An upstream's answer: its head, and its body either still on the connection or read whole and kept.
#pragma once

#include <memory>
#include <string>

#include "proxy/net/body_reader.hpp"
#include "proxy/net/pool.hpp"

namespace reprise::net {

/// Movable as a whole only before its body is read.
struct Answer {
  unsigned number = 0;  ///< the attempt that brought it; 0: none
  http::ResponseHead head;
  Buffer buffer;  ///< holds the head, and body bytes that came with it
  std::unique_ptr<UpstreamConnection> connection;
  std::string body;  ///< of a kept answer
  std::string trailers;
  bool kept = false;      ///< `body` is the whole body
  bool reusable = false;  ///< the connection may serve again once the body was read to its end

  bool any() const { return number != 0; }
  void clear();
};

/// Gives the connection of a wholly read answer back to its pool, or closes it. `surplus`: bytes lay behind
/// the body.
void finish_connection(Pool&, Answer&, bool surplus);

/// Reads the body into `answer.body` if it ends within `most` bytes and before `until`; else drops the answer
/// and its connection (product.md section 2, last upstream response).
Task<void> keep_answer(Pool&, Answer& answer, std::size_t most, Instant until);

}  // namespace reprise::net
