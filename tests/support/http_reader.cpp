#include "tests/support/http_reader.hpp"

#include <algorithm>
#include <charconv>

namespace reprise::play {
namespace {

constexpr std::string_view line_end = "\r\n";

char in_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Visit>
void each_line(std::string_view head, Visit visit) {
  for (std::size_t start = head.find(line_end); start != std::string_view::npos;) {
    start += line_end.size();
    const std::size_t end = head.find(line_end, start);
    if (end == std::string_view::npos || end == start) return;
    const std::string_view line = head.substr(start, end - start);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      std::string_view value = line.substr(colon + 1);
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
      visit(line.substr(0, colon), value);
    }
    start = end;
  }
}

}  // namespace

bool equals_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char one, char other) { return in_lower_case(one) == in_lower_case(other); });
}

std::optional<std::string_view> field(std::string_view head, std::string_view name) {
  std::optional<std::string_view> found;
  each_line(head, [&](std::string_view key, std::string_view value) {
    if (!found && equals_in_any_case(key, name)) found = value;
  });
  return found;
}

std::string field_of(std::string_view head, std::string_view name) {
  return std::string(field(head, name).value_or(""));
}

unsigned field_lines(std::string_view head, std::string_view name) {
  unsigned lines = 0;
  each_line(head, [&](std::string_view key, std::string_view) {
    if (equals_in_any_case(key, name)) ++lines;
  });
  return lines;
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

int status_of(std::string_view head) {
  constexpr std::size_t place = 9;  // after `HTTP/1.1 `
  if (!head.starts_with("HTTP/1.") || head.size() < place + 3) return 0;
  return static_cast<int>(number(head.substr(place, 3)).value_or(0));
}

std::size_t HttpReader::take_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  line_.append(bytes.substr(0, taken));
  if (end != std::string_view::npos) end_line();
  return taken;
}

void HttpReader::end_line() {
  if (state_ == State::head) head_.append(line_);
  if (!line_.ends_with(line_end)) {
    state_ = State::broken;
  } else if (state_ == State::head) {
    if (line_ == line_end) frame();
  } else if (state_ == State::chunk_size) {
    end_chunk_size();
  } else if (state_ == State::chunk_end) {
    state_ = line_ == line_end ? State::chunk_size : State::broken;
  } else if (line_ == line_end) {
    state_ = State::complete;
  } else {
    trailers_.append(line_);
  }
  line_.clear();
}

void HttpReader::end_chunk_size() {
  const std::string_view digits = std::string_view(line_).substr(0, line_.size() - line_end.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  const bool good = error == std::errc() && end == digits.data() + digits.size() && digits.size() <= 16;
  state_ = !good ? State::broken : (left_ == 0 ? State::trailers : State::chunk);
}

void HttpReader::frame() {
  status_ = status_of(head_);
  const auto length = field(head_, "Content-Length");
  const auto coding = field(head_, "Transfer-Encoding");
  const bool ambiguous = (length && coding) || field_lines(head_, "Content-Length") > 1 ||
                         field_lines(head_, "Transfer-Encoding") > 1 || (coding && *coding != "chunked") ||
                         (length && !number(*length));
  const bool bodiless =
      kind_ == Kind::head || (kind_ == Kind::response && (status_ < 200 || status_ == 204 || status_ == 304));
  chunked_ = coding.has_value();
  if (ambiguous || (kind_ == Kind::response && status_ == 0)) {
    state_ = State::broken;
  } else if (bodiless) {
    state_ = State::complete;
  } else if (coding) {
    state_ = State::chunk_size;
  } else if (length) {
    left_ = *number(*length);
    state_ = left_ == 0 ? State::complete : State::counted;
  } else {
    state_ = kind_ == Kind::request ? State::complete : State::until_close;
  }
}

HttpReader::Piece HttpReader::next(std::string_view bytes) {
  Piece piece;
  const bool in_head = state_ == State::head;
  while (piece.used < bytes.size() && !over()) {
    if (in_head && state_ != State::head) break;
    const std::string_view rest = bytes.substr(piece.used);
    if (state_ == State::until_close) {
      return {bytes.size(), rest};
    } else if (state_ == State::counted || state_ == State::chunk) {
      piece.body = rest.substr(0, std::min<std::uint64_t>(left_, rest.size()));
      piece.used += piece.body.size();
      left_ -= piece.body.size();
      if (left_ == 0) state_ = state_ == State::counted ? State::complete : State::chunk_end;
      break;
    }
    piece.used += take_line(rest);
  }
  return piece;
}

std::size_t HttpReader::feed(std::string_view bytes, const Sink& body) {
  std::size_t used = 0;
  while (used < bytes.size() && !over()) {
    const Piece piece = next(bytes.substr(used));
    if (!piece.body.empty()) body(piece.body);
    used += piece.used;
  }
  return used;
}

void HttpReader::finish() {
  if (state_ == State::until_close) state_ = State::complete;
}

Message message_in(std::string_view bytes, HttpReader::Kind kind) {
  Message message;
  HttpReader reader(kind);
  reader.feed(bytes, [&](std::string_view piece) { message.body.append(piece); });
  message.head = reader.head();
  message.trailers = reader.trailers();
  message.chunked = reader.chunked();
  message.whole = reader.complete();
  return message;
}

}  // namespace reprise::play
