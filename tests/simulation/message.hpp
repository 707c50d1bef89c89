// Reads one HTTP/1 message as the other end of reprise sees it: strict, simple, and with code of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::simulation {

/// The value of the first line of that name in a head, without outer blanks; else nothing.
std::optional<std::string_view> field(std::string_view head, std::string_view name);
/// How many lines of that name there are.
unsigned field_lines(std::string_view head, std::string_view name);
/// The number that a text is; nothing if it is none.
std::optional<std::uint64_t> number(std::string_view digits);

/// One message after the other, in pieces of any size.
class MessageReader {
 public:
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
  using Sink = std::function<void(std::string_view)>;

  void begin_request();
  /// `to_head`: the answer to a HEAD has no body.
  void begin_response(bool to_head);
  /// Takes bytes up to the end of the message and says how many. Body bytes go to `body`.
  std::size_t feed(std::string_view bytes, const Sink& body);
  /// FIN: a body that is only ended by it is complete, every other one is not.
  void finish();

  State state() const { return state_; }
  bool complete() const { return state_ == State::complete; }
  bool broken() const { return state_ == State::broken; }
  bool head_is_whole() const { return state_ != State::head && !head_.empty(); }
  /// With its empty line.
  const std::string& head() const { return head_; }
  /// Of a response; 0 if there is none.
  int status() const { return status_; }
  bool chunked() const { return chunked_; }

 private:
  void begin(bool request, bool to_head);
  void frame();
  std::size_t take_line(std::string_view bytes);
  void end_line();

  State state_ = State::head;
  bool request_ = true;
  bool to_head_ = false;
  bool chunked_ = false;
  int status_ = 0;
  std::uint64_t left_ = 0;
  std::string head_;
  std::string line_;
};

}  // namespace reprise::simulation
