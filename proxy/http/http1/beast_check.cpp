// Reads heads again with Beast's parser, and compares the results with those of the framing guard. No other
// file uses Beast's parser.
#include "proxy/http/http1/beast_check.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/version.hpp>
#include <limits>
#include <string>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

namespace beast = boost::beast;

/// Records what Beast's parser reads, and discards the fields.
template <bool is_request>
class Witness final : public beast::http::basic_parser<is_request> {
  using Parser = beast::http::basic_parser<is_request>;
  using Error = beast::error_code;
  using Text = beast::string_view;

 public:
  Witness() {
    Parser::header_limit(std::numeric_limits<std::uint32_t>::max());
    Parser::body_limit(boost::none);
  }

  /// Reads a head. Returns the number of bytes used, or 0 with `error` set if Beast rejects the head.
  std::size_t read(std::string_view text) {
    const std::size_t taken = Parser::put(boost::asio::const_buffer(text.data(), text.size()), error);
    return error ? 0 : taken;
  }

  Error error;
  std::string_view method;
  std::string_view target;
  int status = 0;
  int version = 0;
  std::size_t fields = 0;

 private:
  static std::string_view view(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(beast::http::verb, Text method_text, Text target_text, int number, Error&) override {
    method = view(method_text);
    target = view(target_text);
    version = number;
  }
  void on_response_impl(int code, Text, int number, Error&) override {
    status = code;
    version = number;
  }
  void on_field_impl(beast::http::field, Text, Text, Error&) override { ++fields; }
#if BOOST_VERSION >= 109000
  void on_trailer_field_impl(beast::http::field, Text, Text, Error&) override {}
#endif
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override { return body.size(); }
  void on_finish_impl(Error&) override {}
};

Rejection cause_of(const beast::error_code& error, Rejection otherwise) {
  using Kind = beast::http::error;
  if (error == Kind::bad_method) return Rejection::bad_method;
  if (error == Kind::bad_target) return Rejection::bad_target;
  if (error == Kind::bad_version) return Rejection::bad_version;
  if (error == Kind::bad_status) return Rejection::bad_status;
  if (error == Kind::bad_field) return Rejection::bad_field_name;
  if (error == Kind::bad_value) return Rejection::bad_field_value;
  if (error == Kind::bad_content_length) return Rejection::bad_content_length;
  if (error == Kind::multiple_content_length) return Rejection::conflicting_content_length;
  if (error == Kind::bad_transfer_encoding) return Rejection::bad_transfer_encoding;
  return otherwise;
}

template <class Witness>
bool same_framing(const Witness& witness, const Framing& framing) {
  const boost::optional<std::uint64_t> length = witness.content_length();
  if (witness.chunked() != (framing.kind == Framing::Kind::chunked)) return false;
  if (length.has_value() != (framing.kind == Framing::Kind::length)) return false;
  return !length || *length == framing.length;
}

/// Returns the head as the framing guard understood it, in a form that Beast accepts.
std::string plain_form(const ResponseHead& head, const Oddities& oddities) {
  std::string text = head.minor_version == 1 ? "HTTP/1.1 " : "HTTP/1.0 ";
  ascii::append(text, std::to_string(head.status), " ", head.reason, "\r\n");
  for (const FieldLine& field : head.fields) {
    if (oddities.length_and_chunked && field.id == FieldId::content_length) continue;
    if (oddities.odd_connection && (field.id == FieldId::connection || field.id == FieldId::proxy_connection))
      continue;
    ascii::append(text, field.name, ": ", field.value, "\r\n");
  }
  return text += "\r\n";
}

/// Returns the position of the digit after `HTTP/1.` in a request line.
std::size_t minor_version_place(const RequestHead& head) {
  return head.method.size() + head.target.size() + std::string_view("  HTTP/1.").size();
}

/// Returns true for HTTP/1.2 to 1.9. reprise treats these versions as 1.1 (RFC 9110 6.2). Beast gets the head
/// with 1.1, because Beast knows no newer version.
bool is_newer(std::string_view text, const RequestHead& head) {
  const std::size_t place = minor_version_place(head);
  return place < text.size() && text[place] > '1' && text[place] <= '9';
}

}  // namespace

std::optional<Rejection> second_opinion(std::string_view buffer, const RequestHead& head) {
  std::string_view text = buffer.substr(head.skipped, head.bytes - head.skipped);
  std::string as_1_1;
  if (is_newer(text, head)) {
    as_1_1 = text;
    as_1_1[minor_version_place(head)] = '1';
    text = as_1_1;
  }
  Witness<true> witness;
  const std::size_t taken = witness.read(text);
  if (witness.error) return cause_of(witness.error, Rejection::bad_request_line);
  const bool agreed = taken == text.size() && witness.is_header_done() &&
                      witness.fields == head.fields.size() && witness.method == head.method &&
                      witness.target == head.target &&
                      witness.version == static_cast<int>(10 + head.minor_version);
  if (!agreed) return Rejection::bad_request_line;
  if (!same_framing(witness, head.framing)) return Rejection::bad_content_length;
  if (head.keep_alive() && !witness.keep_alive()) return Rejection::bad_field_value;
  return std::nullopt;
}

std::optional<Rejection> second_opinion(const ResponseHead& head, std::string_view buffer,
                                        std::string_view request_method, const Oddities& oddities) {
  const std::string plain = oddities.any() ? plain_form(head, oddities) : std::string();
  const std::string_view text = oddities.any() ? std::string_view(plain) : head.text(buffer);
  Witness<false> witness;
  witness.skip(request_method == "HEAD" || (request_method == "CONNECT" && head.status < 300));
  const std::size_t taken = witness.read(text);
  if (witness.error) return cause_of(witness.error, Rejection::bad_status_line);
  if (taken != text.size() || !witness.is_header_done() || witness.status != head.status) {
    return Rejection::bad_status_line;
  }
  // If there is no body, the framing fields have no meaning and are not compared. The framing guard and Beast
  // must still agree that there is no body.
  const bool none = head.framing.kind == Framing::Kind::none;
  if (none != witness.is_done() &&
      !(head.framing.kind == Framing::Kind::length && head.framing.length == 0)) {
    return Rejection::bad_content_length;
  }
  if (!none && !same_framing(witness, head.framing)) return Rejection::bad_content_length;
  if (head.reusable && !oddities.odd_connection && !witness.keep_alive()) return Rejection::bad_field_value;
  return std::nullopt;
}

}  // namespace reprise::http
