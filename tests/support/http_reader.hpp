// Reads HTTP/1.1 messages as a peer of reprise does: strict and simple. Shares no code with the product, so
// that it judges the proxy from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::play {

/// Returns the value of the first field line with this name, without surrounding blanks; null if there is
/// none.
std::optional<std::string_view> field(std::string_view head, std::string_view name);
/// Returns the value of the first field line with this name; "" if there is none.
std::string field_of(std::string_view head, std::string_view name);
/// Counts the field lines with this name.
unsigned field_lines(std::string_view head, std::string_view name);
/// Parses a decimal number. Returns null if the text is not a decimal number.
std::optional<std::uint64_t> number(std::string_view digits);
/// Returns the status in a response's head; 0 if there is none.
int status_of(std::string_view head);
bool equals_in_any_case(std::string_view a, std::string_view b);

/// Reads one message after another, from pieces of any size.
class HttpReader {
 public:
  enum class Kind : std::uint8_t {
    request,
    response,
    head,  ///< only the head: for the response to a HEAD, or if the caller reads the body itself
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
    broken,  ///< not HTTP, or contradictory framing
  };
  struct Piece {
    std::size_t used = 0;   ///< number of the given bytes that were read
    std::string_view body;  ///< the part of the given bytes that belongs to the body
  };
  using Sink = std::function<void(std::string_view)>;

  explicit HttpReader(Kind kind = Kind::request) : kind_(kind) {}
  /// Prepares for the next message, which is of this kind.
  void begin(Kind kind) { *this = HttpReader(kind); }
  /// Reads up to the end of the head, a piece of the body, or the end of the message.
  Piece next(std::string_view bytes);
  /// Reads up to the end of the message. Passes the bytes of the body to `body`. Returns how many bytes were
  /// read.
  std::size_t feed(std::string_view bytes, const Sink& body);
  /// Reports FIN, which completes the body only if FIN delimits it.
  void finish();

  State state() const { return state_; }
  bool complete() const { return state_ == State::complete; }
  bool broken() const { return state_ == State::broken; }
  bool over() const { return complete() || broken(); }
  bool head_is_whole() const { return state_ != State::head && !head_.empty(); }
  /// Returns the head with its empty line.
  const std::string& head() const { return head_; }
  /// Returns the status of a response; 0 if there is none.
  int status() const { return status_; }
  bool chunked() const { return chunked_; }
  /// The field lines after the last chunk.
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

/// A message as it was sent, split into its parts.
struct Message {
  std::string head;
  std::string body;  ///< without chunk framing
  std::string trailers;
  bool chunked = false;
  bool whole = false;
};
Message message_in(std::string_view bytes, HttpReader::Kind kind = HttpReader::Kind::request);

}  // namespace reprise::play
