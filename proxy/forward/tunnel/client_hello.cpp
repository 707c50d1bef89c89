// Parses TLS records, the handshake message in them, and its extensions.
#include "proxy/forward/tunnel/client_hello.hpp"

#include <optional>
#include <string>
#include <utility>

namespace reprise::forward {
namespace {

constexpr unsigned handshake_record = 22;
constexpr unsigned client_hello = 1;
constexpr unsigned early_data = 42;
constexpr std::size_t record_header = 5;
constexpr std::size_t message_header = 4;
constexpr std::size_t longest_record = std::size_t{1} << 14U;

/// Takes big-endian numbers and byte strings from the front of the bytes. After the first incomplete value,
/// returns only zeros and empty strings.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::size_t number(std::size_t width) {
    std::size_t value = 0;
    for (const char c : take(width)) value = value << 8U | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      whole_ = false;
      rest_ = {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return whole_ ? taken : std::string_view();
  }
  /// Takes a byte string that is preceded by its length.
  std::string_view vector(std::size_t width) { return take(number(width)); }

  bool whole() const { return whole_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

constexpr unsigned server_name_extension = 0;
constexpr unsigned protocols_extension = 16;

/// Calls `take(type, content)` for each extension in a ClientHello's body. Returns false if `take` returns
/// false, which ends the loop, or if the body is malformed.
template <typename Take>
bool each_extension(std::string_view body, Take take) {
  Reader hello(body);
  hello.take(2 + 32);  // version, random
  const bool session_fits = hello.vector(1).size() <= 32;
  const std::size_t suites = hello.vector(2).size();
  const std::size_t compressions = hello.vector(1).size();
  if (!hello.whole() || !session_fits || suites < 2 || suites % 2 != 0 || compressions == 0) return false;
  if (hello.at_end()) return true;
  Reader extensions(hello.vector(2));
  if (!hello.whole() || !hello.at_end()) return false;
  while (!extensions.at_end()) {
    const std::size_t type = extensions.number(2);
    const std::string_view content = extensions.vector(2);
    if (!extensions.whole() || !take(type, content)) return false;
  }
  return true;
}

bool may_be_repeated(std::string_view body) {
  return each_extension(body, [](std::size_t type, std::string_view) { return type != early_data; });
}

// Accepts exactly one name of type host_name; no client sends more.
bool read_server_name(std::string_view content, std::string& name) {
  Reader outer(content);
  Reader list(outer.vector(2));
  const bool is_host_name = list.number(1) == 0;
  const std::string_view text = list.vector(2);
  if (!outer.whole() || !outer.at_end() || !list.whole() || !list.at_end() || !is_host_name) return false;
  name = text;
  return !name.empty();
}

bool read_protocols(std::string_view content, ClientHello& hello) {
  Reader outer(content);
  Reader list(outer.vector(2));
  if (!outer.whole() || !outer.at_end()) return false;
  while (!list.at_end()) {
    const std::string_view protocol = list.vector(1);
    if (!list.whole() || protocol.empty()) return false;
    hello.offers_protocols = true;
    hello.offers_http_1_1 = hello.offers_http_1_1 || protocol == "http/1.1";
    hello.offers_http2 = hello.offers_http2 || protocol == "h2";
  }
  return true;
}

/// The handshake bytes of the records so far, without the record headers.
struct Message {
  std::string bytes;
  bool whole_records = true;  ///< the last record is complete
};

std::optional<Message> read_records(std::string_view bytes) {
  Message message;
  while (!bytes.empty()) {
    Reader header(bytes);
    const std::size_t type = header.number(1);
    const std::size_t major = header.number(1);
    const bool has_major = header.whole();
    header.number(1);
    const std::size_t length = header.number(2);
    if (type != handshake_record || (has_major && major != 3)) return std::nullopt;
    if (!header.whole()) {
      message.whole_records = false;
      return message;
    }
    if (length == 0 || length > longest_record) return std::nullopt;
    bytes.remove_prefix(record_header);
    message.whole_records = bytes.size() >= length;
    message.bytes.append(bytes.substr(0, length));
    bytes.remove_prefix(message.whole_records ? length : bytes.size());
  }
  return message;
}

/// Returns the body of the ClientHello at the front of the bytes. Returns `more` if the ClientHello is
/// incomplete, and `other` if the bytes are not a ClientHello.
std::variant<Hello, std::string> read_message(std::string_view bytes) {
  std::string message;
  for (;;) {
    Reader record(bytes);
    const std::size_t type = record.number(1);
    const std::size_t version = record.number(2);
    const std::size_t length = record.number(2);
    if (!record.whole()) return message.size() > longest_hello ? Hello::other : Hello::more;
    if (type != handshake_record || version >> 8U != 3 || length == 0 || length > longest_record)
      return Hello::other;
    bytes.remove_prefix(record_header);
    message.append(bytes.substr(0, length));
    Reader reader(message);
    const std::size_t kind = reader.number(1);
    const std::size_t promised = reader.number(3);
    if ((!message.empty() && kind != client_hello) || message.size() > longest_hello ||
        promised > longest_hello)
      return Hello::other;
    if (reader.whole() && reader.left() >= promised) return message.substr(message_header, promised);
    if (bytes.size() < length) return Hello::more;
    bytes.remove_prefix(length);
  }
}

}  // namespace

Hello judge_client_hello(std::string_view bytes) {
  if (bytes.size() > longest_hello) return Hello::other;
  const auto message = read_records(bytes);
  if (!message) return Hello::other;
  Reader reader(message->bytes);
  const std::size_t type = reader.number(1);
  if (!reader.whole()) return Hello::more;
  if (type != client_hello) return Hello::other;
  const std::size_t length = reader.number(3);
  if (!reader.whole()) return Hello::more;
  if (length + message_header + record_header > longest_hello || reader.left() > length) return Hello::other;
  if (reader.left() < length) return Hello::more;
  if (!message->whole_records) return Hello::other;
  return may_be_repeated(reader.take(length)) ? Hello::whole : Hello::other;
}

std::variant<Hello, ClientHello> read_client_hello(std::string_view bytes) {
  const auto message = read_message(bytes);
  if (const Hello* const unfinished = std::get_if<Hello>(&message)) return *unfinished;
  ClientHello hello;
  bool named = false;
  const bool well_formed =
      each_extension(std::get<std::string>(message), [&](std::size_t type, std::string_view content) {
        if (type == protocols_extension) return read_protocols(content, hello);
        if (type != server_name_extension) return true;
        return !std::exchange(named, true) && read_server_name(content, hello.server_name);
      });
  if (!well_formed) return Hello::other;
  return hello;
}

}  // namespace reprise::forward
