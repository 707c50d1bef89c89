// TLS records, the handshake message in them, and the extensions of that.
#include "proxy/tunnel/client_hello.hpp"

#include <optional>
#include <string>

namespace reprise::http {
namespace {

constexpr unsigned handshake_record = 22;
constexpr unsigned client_hello = 1;
constexpr unsigned early_data = 42;
constexpr std::size_t record_header = 5;
constexpr std::size_t message_header = 4;
constexpr std::size_t longest_record = std::size_t{1} << 14U;

/// Takes big-endian numbers and byte strings from the front; once one is not there, nothing is.
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
  /// A string with its length before it.
  std::string_view vector(std::size_t width) { return take(number(width)); }

  bool whole() const { return whole_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

bool may_be_repeated(std::string_view body) {
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
    extensions.vector(2);
    if (!extensions.whole() || type == early_data) return false;
  }
  return true;
}

/// The handshake bytes of the records so far; nothing if they are no handshake records.
struct Message {
  std::string bytes;
  bool whole_records = true;  ///< the last record is there to its end
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

}  // namespace reprise::http
