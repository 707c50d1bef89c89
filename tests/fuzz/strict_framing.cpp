// Implements the strict parser from RFC 9112 and the grammar of RFC 9110 5.6 alone. Reads line by line, with
// one string per line.
#include "tests/fuzz/strict_framing.hpp"

#include <map>
#include <optional>
#include <vector>

namespace reprise::fuzz {
namespace {

using State = Message::State;
using Body = Message::Body;

struct Refused {};
struct Unfinished {};

const std::string digits = "0123456789";
const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const std::string token_letters = digits + letters + "!#$%&'*+-.^_`|~";

bool only(const std::string& text, const std::string& allowed) {
  return text.find_first_not_of(allowed) == std::string::npos;
}
bool is_token(const std::string& text) { return !text.empty() && only(text, token_letters); }

std::string lower_case(std::string text) {
  for (char& c : text) {
    const std::size_t at = letters.find(c);
    if (at != std::string::npos && at >= 26) c = letters[at - 26];
  }
  return text;
}

std::string without_blanks(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Rejects control characters in a field value, except HTAB (RFC 9110 5.5).
void need_value(const std::string& text) {
  for (const char c : text) {
    if ((c >= 0 && c < ' ' && c != '\t') || c == 127) throw Refused();
  }
}

/// Returns the line at `at` without its line end, and moves `at` past the line end. A CR without LF is an
/// error; an LF without CR is an error unless `tolerant` (RFC 9112 2.2).
std::string take_line(const std::string& bytes, std::size_t& at, bool tolerant = false) {
  for (std::size_t i = at; i < bytes.size(); ++i) {
    if (bytes[i] == '\n') {
      if (!tolerant) throw Refused();
      std::string line = bytes.substr(at, i - at);
      at = i + 1;
      return line;
    }
    if (bytes[i] != '\r') continue;
    if (i + 1 == bytes.size()) throw Unfinished();
    if (bytes[i + 1] != '\n') throw Refused();
    std::string line = bytes.substr(at, i - at);
    at = i + 2;
    return line;
  }
  throw Unfinished();
}

struct Fields {
  std::map<std::string, std::vector<std::string>> values;  // by lower-case name

  const std::vector<std::string>& of(const std::string& name) { return values[name]; }
};

bool frames(const std::string& name) { return name == "content-length" || name == "transfer-encoding"; }

/// Reads field lines up to the empty line. A folded line counts as one blank; it is an error in a request,
/// before the first field, and in the framing fields of a head (RFC 9112 5.2).
Fields take_fields(const std::string& bytes, std::size_t& at, bool response, bool trailers = false) {
  Fields fields;
  std::string last;
  while (true) {
    const std::string line = take_line(bytes, at, response);
    if (line.empty()) return fields;
    if (response && (line[0] == ' ' || line[0] == '\t')) {
      if (last.empty() || (frames(last) && !trailers)) throw Refused();
      need_value(line);
      std::string& value = fields.values[last].back();
      value = without_blanks(value + " " + without_blanks(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) throw Refused();
    std::string name = line.substr(0, colon);
    const bool blank = !name.empty() && (name.back() == ' ' || name.back() == '\t');
    if (response && blank) name = name.substr(0, name.find_last_not_of(" \t") + 1);  // RFC 9112 5.1
    if (!is_token(name)) throw Refused();
    name = lower_case(name);
    // A response may have a blank before a colon, but not in a framing field.
    if (blank && frames(name)) throw Refused();
    const std::string value = without_blanks(line.substr(colon + 1));
    need_value(value);
    fields.values[name].push_back(value);
    last = name;
  }
}

std::optional<std::uint64_t> number(const std::string& text) {
  if (text.empty() || !only(text, digits)) throw Refused();
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::uint64_t digit = digits.find(c);
    if (value > (UINT64_MAX - digit) / 10) throw Refused();
    value = value * 10 + digit;
  }
  return value;
}

/// Returns the Content-Length, if any. Several fields with the same number are allowed. A list of the same
/// number is allowed only if `lists` is true (RFC 9112 6.3).
std::optional<std::uint64_t> content_length(Fields& fields, bool lists) {
  std::optional<std::uint64_t> length;
  for (const std::string& value : fields.of("content-length")) {
    std::string left = value;
    while (true) {
      const std::size_t comma = lists ? left.find(',') : std::string::npos;
      const auto one = number(without_blanks(left.substr(0, comma)));
      if (length && *length != *one) throw Refused();
      length = one;
      if (comma == std::string::npos) break;
      left = left.substr(comma + 1);
    }
  }
  return length;
}

bool is_chunked(Fields& fields, bool http_1_0, bool response) {
  std::vector<std::string> codings;
  for (const std::string& value : fields.of("transfer-encoding")) {
    std::vector<std::string> members;
    bool identity = false;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      const std::string member = lower_case(without_blanks(value.substr(begin, end - begin)));
      identity = identity || member == "identity";
      if (member != "identity") members.push_back(member);
      begin = end + 1;
    }
    if (!response || !identity) members = {lower_case(value)};
    codings.insert(codings.end(), members.begin(), members.end());
  }
  if (codings.empty()) return false;
  // RFC 9112 6.1: a coding in an HTTP/1.0 request is faulty framing. Unknown codings and repeated chunked are
  // errors.
  if ((http_1_0 && !response) || codings.size() != 1 || codings[0] != "chunked") throw Refused();
  return true;
}

/// Checks chunk-ext (RFC 9112 7.1.1). Allows the bad whitespace of RFC 9110 5.6.3.
void need_extensions(const std::string& text) {
  std::size_t at = 0;
  const auto blanks = [&] { at = std::min(text.find_first_not_of(" \t", at), text.size()); };
  const auto token = [&] {
    const std::size_t begin = at;
    at = std::min(text.find_first_not_of(token_letters, at), text.size());
    if (at == begin) throw Refused();
  };
  while (at < text.size()) {
    blanks();
    if (at == text.size() || text[at] != ';') throw Refused();
    ++at;
    blanks();
    token();
    const std::size_t behind_name = at;
    blanks();
    if (at == text.size() || text[at] != '=') {
      at = behind_name;
      continue;
    }
    ++at;
    blanks();
    if (at == text.size() || text[at] != '"') {
      token();
      continue;
    }
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
    if (at >= text.size()) throw Refused();
    ++at;
  }
}

/// Reads a chunked-body (RFC 9112 7.1).
std::string take_chunks(const std::string& bytes, std::size_t& at, bool response) {
  const std::string hex = digits + "abcdefABCDEF";
  std::string body;
  while (true) {
    std::string line = take_line(bytes, at, response);
    const bool lf_alone = at < 2 || bytes[at - 2] != '\r';
    if (response) line.erase(line.find_last_not_of(" \t") + 1);  // old upstreams write blanks after the size
    const std::size_t end = std::min(line.find_first_not_of(hex), line.size());
    const std::string size_text = line.substr(0, end);
    if (size_text.empty()) throw Refused();
    need_value(line);
    need_extensions(line.substr(end));
    std::uint64_t size = 0;
    for (const char c : lower_case(size_text)) {
      if (size > UINT64_MAX / 16) throw Refused();
      size = size * 16 + hex.find(c);
    }
    if (size == 0) break;
    if (bytes.size() - at < size) throw Unfinished();
    body += bytes.substr(at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
    if (response && lf_alone && at < bytes.size() && bytes[at] == '\n') {
      ++at;
      continue;
    }
    const std::string mark = bytes.substr(at, 2);
    if (mark != std::string("\r\n").substr(0, mark.size())) throw Refused();
    if (mark.size() < 2) throw Unfinished();
    at += 2;
  }
  take_fields(bytes, at, response, true);  // the trailer section
  return body;
}

/// Checks host [":" port] (RFC 9112 3.2) with the brackets of RFC 3986 3.2.2.
void need_host(const std::string& text) {
  const bool literal = text.rfind('[', 0) == 0;
  const std::size_t end = literal ? text.find(']') : text.find(':');
  if (literal && end == std::string::npos) throw Refused();
  const std::string host = literal ? text.substr(1, end - 1) : text.substr(0, end);
  if (host.empty() || !only(host, literal ? digits + "abcdefABCDEF:." : digits + letters + "-._~"))
    throw Refused();
  const std::string behind = end == std::string::npos ? "" : text.substr(literal ? end + 1 : end);
  if (!behind.empty() && (behind[0] != ':' || !only(behind.substr(1), digits))) throw Refused();
}

/// Reads method SP request-target SP HTTP-version (RFC 9112 3). A target contains no blanks, controls or
/// fragment.
void read_request_head(const std::string& bytes, std::size_t& at, Message& message) {
  std::string line;
  while (line.empty()) line = take_line(bytes, at);
  const std::size_t first = line.find(' ');
  const std::size_t second = first == std::string::npos ? first : line.find(' ', first + 1);
  if (second == std::string::npos || !is_token(line.substr(0, first))) throw Refused();
  const std::string target = line.substr(first + 1, second - first - 1);
  need_value(target);
  if (target.empty() || target.find_first_of("\t#") != std::string::npos) throw Refused();
  const std::string version = line.substr(second + 1);
  if (version.size() != 8 || version.rfind("HTTP/1.", 0) != 0 || !only(version.substr(7), digits))
    throw Refused();
  Fields fields = take_fields(bytes, at, false);
  const std::vector<std::string>& hosts = fields.of("host");
  if (hosts.size() > 1 || (hosts.empty() && version != "HTTP/1.0")) throw Refused();
  if (!hosts.empty()) need_host(hosts[0]);
  const auto length = content_length(fields, false);
  if (is_chunked(fields, version == "HTTP/1.0", false)) {
    if (length) throw Refused();
    message.kind = Body::chunked;
  } else if (length) {
    message.kind = Body::length;
    message.length = *length;
  }
}

/// Reads HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112 4), then finds the body length in the
/// order of 6.3.
void read_response_head(const std::string& bytes, const std::string& method, std::size_t& at,
                        Message& message) {
  const std::string line = take_line(bytes, at, true);
  need_value(line);
  const std::string version = line.substr(0, 9);
  if (version.size() != 9 || version.rfind("HTTP/1.", 0) != 0 || !only(version.substr(7, 1), digits) ||
      version[8] != ' ')
    throw Refused();
  const std::string status = line.substr(9, 3);
  if (status.size() != 3 || !only(status, digits) || status < "100") throw Refused();
  if (line.size() > 12 && line[12] != ' ') throw Refused();
  Fields fields = take_fields(bytes, at, true);
  const auto length = content_length(fields, true);
  const bool chunked = is_chunked(fields, version == "HTTP/1.0 ", true);
  const bool bodiless = method == "HEAD" || status[0] == '1' || status == "204" || status == "304";
  if (bodiless || (method == "CONNECT" && status[0] == '2')) {
    message.kind = Body::none;
  } else if (chunked) {
    message.kind = Body::chunked;
  } else if (length) {
    message.kind = Body::length;
    message.length = *length;
  } else {
    message.kind = Body::until_close;
  }
}

void read_body(const std::string& bytes, std::size_t at, bool response, Message& message) {
  message.has_head = true;
  if (message.kind == Body::chunked) {
    message.body = take_chunks(bytes, at, response);
  } else if (message.kind == Body::length) {
    if (bytes.size() - at < message.length) throw Unfinished();
    message.body = bytes.substr(at, static_cast<std::size_t>(message.length));
    at += message.body.size();
  } else if (message.kind == Body::until_close) {
    message.body = bytes.substr(at);
    at = bytes.size();
  }
  message.end = at;
  message.state = State::whole;
}

template <typename ReadHead>
Message read(const std::string& bytes, bool response, ReadHead read_head) {
  Message message;
  try {
    std::size_t at = 0;
    read_head(at, message);
    read_body(bytes, at, response, message);
  } catch (const Refused&) {
    message.state = State::refused;
  } catch (const Unfinished&) {
    message.state = State::unfinished;
  }
  return message;
}

}  // namespace

Message read_strictly_request(const std::string& bytes) {
  return read(bytes, false,
              [&](std::size_t& at, Message& message) { read_request_head(bytes, at, message); });
}

Message read_strictly_response(const std::string& bytes, const std::string& request_method) {
  return read(bytes, true, [&](std::size_t& at, Message& message) {
    read_response_head(bytes, request_method, at, message);
  });
}

}  // namespace reprise::fuzz
