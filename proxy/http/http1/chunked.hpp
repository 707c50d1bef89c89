// Decodes and writes the chunked coding (RFC 9112 7.1). The decoder is strict, works in place, drops
// extensions, filters trailers, and does bounded work per byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/http1/spelling.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// Decoder of one body. Takes bytes as they arrive and returns the data as views into them. `tolerant` also
/// accepts blanks at the end of a size line, and chunks whose lines end in LF alone (row N25).
class ChunkDecoder {
 public:
  explicit ChunkDecoder(Spelling spelling = Spelling::strict) : spelling_(spelling) {}

  enum class State : std::uint8_t { more, data, done, broken };
  struct Step {
    State state = State::more;
    std::size_t consumed = 0;                ///< bytes of the input that this step used, including data
    std::string_view data;                   ///< in the state `data`: body bytes, a view into the input
    Rejection cause = Rejection::bad_chunk;  ///< set if the state is `broken`
  };
  /// Processes bytes from the front of `input`. `more`: all input was used. `done`: the body and its trailers
  /// ended at `consumed`; the rest of the input belongs to the next message.
  Step step(std::string_view input);

  /// Returns the trailer lines that may be forwarded, with CRLF and without folds. Valid after `done`.
  /// Framing, routing, authentication and Host fields are dropped (RFC 9110 6.5.1). The trailer section is
  /// limited to 8 KiB.
  const std::string& trailers() const { return trailers_; }
  /// Prepares for another body. Keeps the allocated memory.
  void reset(Spelling spelling = Spelling::strict);

 private:
  enum class Part : std::uint8_t { size, extension, size_lf, data, data_cr, data_lf, trailer, done, broken };
  /// Whether the previous trailer field was kept.
  enum class Before : std::uint8_t { none, dropped, kept };
  Step fail(Rejection, std::size_t consumed);
  Step hand_out(std::string_view input, std::size_t at);
  std::optional<Rejection> take_framing(char);
  /// Returns true if `c` is an LF that may end a line without a CR.
  bool ends_line(char c) const { return c == '\n' && spelling_ == Spelling::tolerant; }
  std::optional<Rejection> take_size(char);
  std::optional<Rejection> take_extension(char);
  std::optional<Rejection> end_size_line();
  std::optional<Rejection> take_trailer(std::string_view input, std::size_t& at);
  std::optional<Rejection> end_trailer();
  std::optional<Rejection> continue_trailer();
  std::optional<Rejection> count_overhead();

  Spelling spelling_;
  Part part_ = Part::size;
  Before before_ = Before::none;
  bool lf_alone_ = false;                   ///< the size line of this chunk ended in LF alone
  Rejection cause_ = Rejection::bad_chunk;  // why the body is broken
  std::uint64_t left_ = 0;
  unsigned digits_ = 0;               // digits of the chunk size; all leading zeros count as one
  std::size_t zeros_ = 0;             // skipped leading zeros of the chunk size
  std::size_t line_bytes_ = 0;        // bytes of the trailer section so far
  std::uint64_t overhead_bytes_ = 0;  // bytes of size lines and extensions, without their line ends
  std::uint64_t body_bytes_ = 0;
  std::string line_;  // extension or trailer line that is not complete yet
  std::string trailers_;
};

/// Returns true for fields that have a meaning only in a head (RFC 9110 6.5.1): framing, routing,
/// authentication, request modifiers, caching, and content format. Letter case is ignored.
bool is_forbidden_trailer(std::string_view name);

/// Appends `<hex size>CRLF`. The caller sends the data and a CRLF after it. Precondition: `size` is not 0.
void write_chunk_size(std::size_t size, std::string& out);
/// Appends the last chunk and the given trailer lines.
void write_last_chunk(std::string_view trailers, std::string& out);

}  // namespace reprise::http
