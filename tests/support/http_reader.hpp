// Reads HTTP/1.1 messages as the other end of reprise sees them: strict, simple, and with code of its own, so
// that it judges the proxy from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::play {

/// The value of the first line of that name in a head, without outer blanks; else nothing.
std::optional<std::string_view> field(std::string_view head, std::string_view name);
/// The same; "" without one.
std::string field_of(std::string_view head, std::string_view name);
/// How many lines of that name there are.
unsigned field_lines(std::string_view head, std::string_view name);
/// The number that a text is; nothing if it is none.
std::optional<std::uint64_t> number(std::string_view digits);
/// Of a response's head; 0 if there is none.
int status_of(std::string_view head);
bool equals_in_any_case(std::string_view a, std::string_view b);

/// One message after the other, in pieces of any size.
class HttpReader {
 public:
  enum class Kind : std::uint8_t {
    request,
    response,
    head,  ///< of either, and no body behind it: the response to a HEAD, or somebody else reads what follows
  };
  enum class State : std::uint8_t {
    head,
    counted,
    chunk_size,
    chunk,
    chunk_end,
    trailers,
    until_close,
    complete,
    broken,  ///< not HTTP, or its framing contradicts itself
  };
  struct Piece {
    std::size_t used = 0;   ///< of the bytes given
    std::string_view body;  ///< those of them that are body
  };
  using Sink = std::function<void(std::string_view)>;

  explicit HttpReader(Kind kind = Kind::request) : kind_(kind) {}
  /// The next message is of that kind.
  void begin(Kind kind) { *this = HttpReader(kind); }
  /// Takes bytes up to a piece of the body, the end of the head, or the end of the message.
  Piece next(std::string_view bytes);
  /// Takes bytes up to the end of the message and says how many. Body bytes go to `body`.
  std::size_t feed(std::string_view bytes, const Sink& body);
  /// FIN: a body that is only ended by it is complete, every other one is not.
  void finish();

  State state() const { return state_; }
  bool complete() const { return state_ == State::complete; }
  bool broken() const { return state_ == State::broken; }
  bool over() const { return complete() || broken(); }
  bool head_is_whole() const { return state_ != State::head && !head_.empty(); }
  /// With its empty line.
  const std::string& head() const { return head_; }
  /// Of a response; 0 if there is none.
  int status() const { return status_; }
  bool chunked() const { return chunked_; }
  /// The lines behind the last chunk.
  const std::string& trailers() const { return trailers_; }

 private:
  void frame();
  std::size_t take_line(std::string_view bytes);
  void end_line();
  void end_chunk_size();

  Kind kind_;
  State state_ = State::head;
  bool chunked_ = false;
  int status_ = 0;
  std::uint64_t left_ = 0;
  std::string head_;
  std::string line_;
  std::string trailers_;
};

/// A message as it was sent, taken apart.
struct Message {
  std::string head;
  std::string body;  ///< chunk framing taken off
  std::string trailers;
  bool chunked = false;
  bool whole = false;
};
Message message_in(std::string_view bytes, HttpReader::Kind kind = HttpReader::Kind::request);

}  // namespace reprise::play
