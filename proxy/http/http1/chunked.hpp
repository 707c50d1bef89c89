// The chunked coding (RFC 9112 7.1), read strictly and in place: extensions dropped, trailers filtered, work
// bounded per byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/http1/spelling.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// One body. Fed with bytes as they come; hands out the data as views into them. `tolerant` also reads blanks
/// at the end of a size line, and chunks whose lines end in LF alone (row N25).
class ChunkDecoder {
 public:
  explicit ChunkDecoder(Spelling spelling = Spelling::strict) : spelling_(spelling) {}

  enum class State : std::uint8_t { more, data, done, broken };
  struct Step {
    State state = State::more;
    std::size_t consumed = 0;                ///< bytes of the input that are finished with, data included
    std::string_view data;                   ///< for `data`: body bytes, a view into the input
    Rejection cause = Rejection::bad_chunk;  ///< for `broken`
  };
  /// Takes as much of `input` as makes one step. `more`: everything was consumed. `done`: the body and its
  /// trailers ended at `consumed`; what follows is not ours.
  Step step(std::string_view input);

  /// Trailer lines with CRLF and without folds that may be forwarded, after `done`; framing, routing,
  /// authentication and Host fields are dropped (RFC 9110 6.5.1). Of a section of at most 8 KiB.
  const std::string& trailers() const { return trailers_; }
  /// Ready for another body; keeps storage.
  void reset(Spelling spelling = Spelling::strict);

 private:
  enum class Part : std::uint8_t { size, extension, size_lf, data, data_cr, data_lf, trailer, done, broken };
  /// What became of the trailer field before.
  enum class Before : std::uint8_t { none, dropped, kept };
  Step fail(Rejection, std::size_t consumed);
  Step hand_out(std::string_view input, std::size_t at);
  std::optional<Rejection> take_framing(char);
  /// True for the LF of a line that may end without a CR.
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
  bool lf_alone_ = false;                   ///< the size line of this chunk ended so
  Rejection cause_ = Rejection::bad_chunk;  // what broke it
  std::uint64_t left_ = 0;
  unsigned digits_ = 0;               // leading zeros are one
  std::size_t zeros_ = 0;             // that were stepped over
  std::size_t line_bytes_ = 0;        // of the trailer section
  std::uint64_t overhead_bytes_ = 0;  // sizes and extensions, their line ends not counted
  std::uint64_t body_bytes_ = 0;
  std::string line_;  // extension or trailer line under way
  std::string trailers_;
};

/// Appends `<hex size>CRLF`; the caller sends the data and then CRLF. `size` must not be 0.
void write_chunk_size(std::size_t size, std::string& out);
/// Appends the last chunk with these trailer lines.
void write_last_chunk(std::string_view trailers, std::string& out);

}  // namespace reprise::http
