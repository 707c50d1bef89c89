#include "tests/simulation/message.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/policy/ascii.hpp"

namespace reprise::simulation {
namespace {

constexpr std::string_view line_end = "\r\n";

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

std::optional<std::string_view> field(std::string_view head, std::string_view name) {
  std::optional<std::string_view> found;
  each_line(head, [&](std::string_view key, std::string_view value) {
    if (!found && policy::equals_ignoring_case(key, name)) found = value;
  });
  return found;
}

unsigned field_lines(std::string_view head, std::string_view name) {
  unsigned lines = 0;
  each_line(head, [&](std::string_view key, std::string_view) {
    if (policy::equals_ignoring_case(key, name)) ++lines;
  });
  return lines;
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

void MessageReader::begin(bool request, bool to_head) {
  state_ = State::head;
  request_ = request;
  to_head_ = to_head;
  chunked_ = false;
  status_ = 0;
  left_ = 0;
  head_.clear();
  line_.clear();
}

void MessageReader::begin_request() { begin(true, false); }
void MessageReader::begin_response(bool to_head) { begin(false, to_head); }

std::size_t MessageReader::take_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  line_.append(bytes.substr(0, taken));
  if (end != std::string_view::npos) end_line();
  return taken;
}

void MessageReader::end_line() {
  const bool well_ended = line_.ends_with(line_end);
  if (state_ == State::head) {
    head_.append(line_);
    if (!well_ended) {
      state_ = State::broken;
    } else if (line_ == line_end) {
      frame();
    }
  } else if (!well_ended) {
    state_ = State::broken;
  } else if (state_ == State::chunk_size) {
    const std::string_view digits = std::string_view(line_).substr(0, line_.size() - line_end.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
    const bool good = error == std::errc() && end == digits.data() + digits.size() && digits.size() <= 16;
    state_ = !good ? State::broken : (left_ == 0 ? State::trailers : State::chunk);
  } else if (state_ == State::chunk_end) {
    state_ = line_ == line_end ? State::chunk_size : State::broken;
  } else if (line_ == line_end) {
    state_ = State::complete;
  }
  line_.clear();
}

void MessageReader::frame() {
  if (!request_) {
    const auto code =
        number(std::string_view(head_).substr(0, 12).substr(std::min<std::size_t>(9, head_.size())));
    if (!head_.starts_with("HTTP/1.") || !code) {
      state_ = State::broken;
      return;
    }
    status_ = static_cast<int>(*code);
  }
  const auto length = field(head_, "Content-Length");
  const auto coding = field(head_, "Transfer-Encoding");
  const bool bodiless = !request_ && (to_head_ || status_ < 200 || status_ == 204 || status_ == 304);
  const bool ambiguous = (length && coding) || field_lines(head_, "Content-Length") > 1 ||
                         field_lines(head_, "Transfer-Encoding") > 1 || (coding && *coding != "chunked") ||
                         (length && !number(*length));
  chunked_ = coding.has_value();
  if (ambiguous) {
    state_ = State::broken;
  } else if (bodiless) {
    state_ = State::complete;
  } else if (coding) {
    state_ = State::chunk_size;
  } else if (length) {
    left_ = *number(*length);
    state_ = left_ == 0 ? State::complete : State::counted;
  } else {
    state_ = request_ ? State::complete : State::until_close;
  }
}

std::size_t MessageReader::feed(std::string_view bytes, const Sink& body) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::complete && state_ != State::broken) {
    const std::string_view rest = bytes.substr(used);
    if (state_ == State::counted || state_ == State::chunk || state_ == State::until_close) {
      const std::size_t most = state_ == State::until_close
                                   ? rest.size()
                                   : static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
      body(rest.substr(0, most));
      used += most;
      if (state_ == State::until_close) continue;
      left_ -= most;
      if (left_ == 0) state_ = state_ == State::counted ? State::complete : State::chunk_end;
    } else {
      used += take_line(rest);
    }
  }
  return used;
}

void MessageReader::finish() {
  if (state_ == State::until_close) state_ = State::complete;
}

}  // namespace reprise::simulation
