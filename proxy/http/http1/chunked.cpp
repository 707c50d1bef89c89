// Decodes the chunked coding byte by byte in one pass. Data is returned as views into the input.
#include "proxy/http/http1/chunked.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "proxy/http/http1/scanner.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

/// Limit for the leading zeros and the extensions of one chunk-size line together.
constexpr std::size_t longest_line = 4096;
constexpr std::size_t longest_trailers = 8192;
/// Number of bytes by which size lines and extensions may exceed the body bytes (row A6).
constexpr std::uint64_t overhead_allowance = 16 * 1024;

int hex_value(char c) {
  if (ascii::is_digit(c)) return c - '0';
  const char folded = ascii::lower(c);
  return folded >= 'a' && folded <= 'f' ? folded - 'a' + 10 : -1;
}

const char* skip_blanks(const char* p, const char* end) {
  while (p != end && ascii::is_blank(*p)) ++p;
  return p;
}

const char* skip_token(const char* p, const char* end) {
  while (p != end && ascii::is_token(*p)) ++p;
  return p;
}

/// Skips a quoted-string whose opening quote is at `p`. Returns null if the closing quote is missing.
/// Precondition: the text has no control bytes.
const char* skip_quoted(const char* p, const char* end) {
  for (++p; p != end; ++p) {
    if (*p == '"') return p + 1;
    if (*p == '\\' && ++p == end) return nullptr;
  }
  return nullptr;
}

/// Returns true for *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] ), RFC 9112 7.1.1.
bool is_extension(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    p = skip_blanks(p, end);
    if (p == end || *p != ';') return false;
    const char* const name = skip_blanks(p + 1, end);
    p = skip_token(name, end);
    if (p == name) return false;
    const char* const equals = skip_blanks(p, end);
    if (equals == end || *equals != '=') continue;
    const char* const value = skip_blanks(equals + 1, end);
    p = value != end && *value == '"' ? skip_quoted(value, end) : skip_token(value, end);
    if (p == nullptr || p == value) return false;
  }
  return true;
}

/// Returns the field name of a trailer line, which is passed without CRLF. Empty if the line is malformed.
std::string_view trailer_name(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !ascii::is_token(line.substr(0, colon))) return {};
  const char* const end = line.data() + line.size();
  return find_control(line.data() + colon, end) == end ? line.substr(0, colon) : std::string_view();
}

}  // namespace

bool is_forbidden_trailer(std::string_view name) {
  for (const std::string_view prefix : {"content-", "proxy-", "if-", "reprise-"}) {
    if (ascii::starts_with(name, prefix))
      return !ascii::same(name, "content-md5") && !ascii::same(name, "content-digest");
  }
  for (const std::string_view known : {"transfer-encoding",
                                       "host",
                                       "connection",
                                       "keep-alive",
                                       "te",
                                       "trailer",
                                       "upgrade",
                                       "via",
                                       "authorization",
                                       "www-authenticate",
                                       "cookie",
                                       "cookie2",
                                       "set-cookie",
                                       "set-cookie2",
                                       "cache-control",
                                       "pragma",
                                       "expect",
                                       "max-forwards",
                                       "range",
                                       "age",
                                       "date",
                                       "expires",
                                       "location",
                                       "retry-after",
                                       "vary",
                                       "warning",
                                       "forwarded",
                                       "x-forwarded-for",
                                       "x-forwarded-host",
                                       "x-forwarded-proto"}) {
    if (ascii::same(name, known)) return true;
  }
  return false;
}

ChunkDecoder::Step ChunkDecoder::fail(Rejection cause, std::size_t consumed) {
  part_ = Part::broken;
  cause_ = cause;
  return {State::broken, consumed, {}, cause};
}

void ChunkDecoder::reset(Spelling spelling) {
  spelling_ = spelling;
  part_ = Part::size;
  before_ = Before::none;
  left_ = 0;
  digits_ = 0;
  zeros_ = 0;
  line_bytes_ = 0;
  overhead_bytes_ = 0;
  body_bytes_ = 0;
  line_.clear();
  trailers_.clear();
}

ChunkDecoder::Step ChunkDecoder::step(std::string_view input) {
  std::size_t at = 0;
  // Fast path for many small chunks (row I1): one step reads the CRLF at the end of a chunk, and one step
  // reads a size line of one digit.
  if (part_ == Part::data_cr && input.starts_with("\r\n")) {
    part_ = Part::size;
    at = 2;
  }
  if (part_ == Part::size && digits_ == 0 && input.substr(std::min(at + 1, input.size()), 2) == "\r\n") {
    if (const int digit = hex_value(input[at]); digit > 0) {
      ++overhead_bytes_;  // cannot exceed the allowance: the previous chunk brought at least as many bytes
      left_ = static_cast<std::uint64_t>(digit);
      part_ = Part::data;
      at += 3;
    }
  }
  while (part_ != Part::done && part_ != Part::broken) {
    if (at == input.size()) return {State::more, at, {}, Rejection::bad_chunk};
    if (part_ == Part::data) return hand_out(input, at);
    const std::optional<Rejection> refusal =
        part_ == Part::trailer ? take_trailer(input, at) : take_framing(input[at++]);
    if (refusal) return fail(*refusal, at);
  }
  if (part_ == Part::broken) return fail(cause_, at);
  return {State::done, at, {}, Rejection::bad_chunk};
}

ChunkDecoder::Step ChunkDecoder::hand_out(std::string_view input, std::size_t at) {
  const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - at));
  left_ -= taken;
  body_bytes_ += taken;
  if (left_ == 0) part_ = Part::data_cr;
  return {State::data, at + taken, input.substr(at, taken), Rejection::bad_chunk};
}

std::optional<Rejection> ChunkDecoder::take_framing(char c) {
  switch (part_) {
    case Part::size: return take_size(c);
    case Part::extension: return take_extension(c);
    case Part::size_lf:
      lf_alone_ = false;
      return c == '\n' ? end_size_line() : std::optional(Rejection::bad_chunk);
    case Part::data_cr:
      // Accepts an LF alone only if the size line ended in LF alone too. After a size line with CRLF, an LF
      // alone may mean that the size is one too large and that a CR was read as data.
      if (lf_alone_ && ends_line(c)) break;
      if (c != '\r') return Rejection::bad_chunk;
      part_ = Part::data_lf;
      return std::nullopt;
    case Part::data_lf:
    case Part::data:
    case Part::trailer:
    case Part::done:
    case Part::broken: break;
  }
  // This line is reached in two states: after the CR that follows the data (data_lf), or with an LF alone in
  // place of CRLF (data_cr).
  if (c != '\n') return Rejection::bad_chunk;
  part_ = Part::size;
  return std::nullopt;
}

std::optional<Rejection> ChunkDecoder::count_overhead() {
  return ++overhead_bytes_ > overhead_allowance + body_bytes_ ? std::optional(Rejection::bad_chunk)
                                                              : std::nullopt;
}

std::optional<Rejection> ChunkDecoder::take_size(char c) {
  if (const int digit = hex_value(c); digit >= 0) {
    const bool behind_zero = digits_ == 1 && left_ == 0;
    if (behind_zero ? ++zeros_ == longest_line : ++digits_ > 16) return Rejection::bad_chunk;
    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    return count_overhead();
  }
  if (digits_ == 0) return Rejection::bad_chunk;
  if (ends_line(c)) {
    lf_alone_ = true;
    return end_size_line();
  }
  if (c == '\r') {
    part_ = Part::size_lf;
    return std::nullopt;
  }
  if (c != ';' && !ascii::is_blank(c)) return Rejection::bad_chunk;
  part_ = Part::extension;
  return take_extension(c);
}

std::optional<Rejection> ChunkDecoder::take_extension(char c) {
  if (ends_line(c)) {
    lf_alone_ = true;
    return end_size_line();
  }
  if (c == '\r') {
    part_ = Part::size_lf;
    return std::nullopt;
  }
  if (ascii::is_control(c) || zeros_ + line_.size() >= longest_line) return Rejection::bad_chunk;
  line_ += c;
  return count_overhead();
}

std::optional<Rejection> ChunkDecoder::end_size_line() {
  if (spelling_ == Spelling::tolerant) {
    while (!line_.empty() && ascii::is_blank(line_.back())) line_.pop_back();
  }
  if (!line_.empty() && !is_extension(line_)) return Rejection::bad_chunk;
  line_.clear();
  digits_ = 0;
  zeros_ = 0;
  part_ = left_ > 0 ? Part::data : Part::trailer;
  return std::nullopt;
}

std::optional<Rejection> ChunkDecoder::take_trailer(std::string_view input, std::size_t& at) {
  const std::size_t line_end = std::min(input.find('\n', at), input.size() - 1);
  line_bytes_ += line_end + 1 - at;
  if (line_bytes_ > longest_trailers) return Rejection::bad_trailer;
  line_ += input.substr(at, line_end + 1 - at);
  at = line_end + 1;
  return line_.back() == '\n' ? end_trailer() : std::nullopt;
}

std::optional<Rejection> ChunkDecoder::end_trailer() {
  if (!line_.ends_with("\r\n")) {
    if (spelling_ == Spelling::strict) return Rejection::bad_trailer;
    line_.insert(line_.size() - 1, 1, '\r');
  }
  if (line_.size() == 2) {
    part_ = Part::done;
    return std::nullopt;
  }
  if (ascii::is_blank(line_.front())) return continue_trailer();
  const std::string_view name = trailer_name(std::string_view(line_).substr(0, line_.size() - 2));
  if (name.empty()) return Rejection::bad_trailer;
  before_ = is_forbidden_trailer(name) ? Before::dropped : Before::kept;
  if (before_ == Before::kept) trailers_ += line_;
  line_.clear();
  return std::nullopt;
}

// Appends a folded line (RFC 9112 5.2) to the trailer field that it continues. Drops the line if that field
// was dropped.
std::optional<Rejection> ChunkDecoder::continue_trailer() {
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - 2);
  const char* const end = line.data() + line.size();
  if (spelling_ == Spelling::strict || before_ == Before::none || find_control(line.data(), end) != end)
    return Rejection::bad_trailer;
  const std::string_view more = ascii::trim(line);
  if (before_ == Before::kept && !more.empty()) {
    trailers_.resize(trailers_.size() - 2);
    while (ascii::is_blank(trailers_.back())) trailers_.pop_back();
    ascii::append(trailers_, " ", more, "\r\n");
  }
  line_.clear();
  return std::nullopt;
}

void write_chunk_size(std::size_t size, std::string& out) {
  assert(size > 0);
  char digits[16];
  const auto written = std::to_chars(digits, digits + sizeof digits, size, 16);
  out.append(digits, written.ptr);
  out += "\r\n";
}

void write_last_chunk(std::string_view trailers, std::string& out) {
  ascii::append(out, "0\r\n", trailers, "\r\n");
}

}  // namespace reprise::http
