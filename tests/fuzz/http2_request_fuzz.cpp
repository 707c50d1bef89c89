// Fuzz target: the fields of an HTTP/2 request head. libnghttp2 accepts what the proxy accepts, and every
// accepted head is exactly one HTTP/1 head with the same method, target and fields.
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/http2/request_fields.hpp"
#include "proxy/http/http2/request_text.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/intake.hpp"
#include "tests/fuzz/http2_blocks.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;
using play::FieldList;

/// Lets a server session of libnghttp2 read the block as the head of a request.
Opinion opinion_of_library(const FieldList& fields, bool end_stream) {
  Judge judge(nghttp2_session_server_new);
  return judge.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + play::settings() +
                    play::headers(1, fields, end_stream ? play::end_stream : 0));
}

std::string value_of(const FieldList& fields, std::string_view name) {
  for (const auto& field : fields) {
    if (field.first == name) return field.second;
  }
  return {};
}

bool is_extended(const FieldList& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const auto& field) { return field.first == ":protocol"; });
}

bool asks_websocket(const FieldList& fields) {
  return is_extended(fields) && ascii::same(value_of(fields, ":protocol"), "websocket");
}

/// Returns the method that the HTTP/1 text must have.
std::string expected_method(const FieldList& fields) {
  return is_extended(fields) ? "GET" : value_of(fields, ":method");
}

/// Returns the fields that the HTTP/1 text must have, in a simpler way than the proxy.
FieldList expected_fields(const FieldList& fields, bool end_stream) {
  const std::string method = value_of(fields, ":method");
  const std::string authority = value_of(fields, ":authority");
  FieldList expected = {{"Host", authority.empty() ? value_of(fields, "host") : authority}};
  std::string* cookie = nullptr;
  bool has_length = false;
  expected.reserve(fields.size() + 4);  // keeps `cookie` valid
  if (asks_websocket(fields)) {
    expected.emplace_back("Connection", "Upgrade, close");
    expected.emplace_back("Upgrade", "websocket");
  }
  for (const auto& [name, value] : fields) {
    has_length = has_length || name == "content-length";
    if (name.starts_with(':') || name == "host") continue;
    if (name == "sec-websocket-key" && is_extended(fields)) continue;
    if (name == "cookie" && cookie != nullptr) {
      if (!cookie->empty() && !value.empty()) *cookie += "; ";
      *cookie += value;
      continue;
    }
    expected.emplace_back(name, value);
    if (name == "cookie") cookie = &expected.back().second;
  }
  if (method == "CONNECT" || has_length) return expected;
  if (!end_stream) expected.emplace_back("Transfer-Encoding", "chunked");
  if (end_stream && (method == "POST" || method == "PUT" || method == "PATCH"))
    expected.emplace_back("Content-Length", "0");
  return expected;
}

std::string expected_target(const FieldList& fields, const FieldList& expected, TargetForm form) {
  const std::string path = value_of(fields, ":path");
  if (path.empty()) return value_of(fields, ":authority");
  if (form == TargetForm::origin) return path;
  const bool https = value_of(fields, ":scheme").size() == 5;
  return (https ? "https://" : "http://") + expected[0].second + (path == "*" ? "" : path);
}

/// Checks that the request keeps its meaning on its way to an HTTP/2 upstream.
void check_way_through(const RequestHead& head, const FieldList& fields, TargetForm form) {
  const Intake intake =
      form == TargetForm::absolute ? take_forward(head, {}) : take_gateway(head, {.host = "up.test"});
  const auto* const forward = std::get_if<Forward>(&intake);
  if (forward == nullptr) return;
  std::string out;
  write_request_head(head, *forward, "reprise", false, out);
  out += "\r\n";
  // The proxy adds Via and Host to a head that may already be at the limits.
  constexpr HeadLimits wider{.bytes = 2 * HeadLimits().bytes, .fields = 2 * HeadLimits().fields};
  RequestHead sent;
  law(parse_request(out, wider, sent) == Parsed{Progress::complete} && sent.bytes == out.size(),
      "the head that is sent is not one head");
  FieldBlock block;
  write_request_fields(out, "http", block);
  const auto law_of = [&](std::size_t place, std::string_view name) {
    law(block.fields[place].name == name && block.fields[place].value == value_of(fields, name),
        "another pseudo-field is sent");
  };
  law(block.fields[0].name == ":method" && block.fields[0].value == expected_method(fields),
      "another method is sent");
  law_of(3, ":path");
  law(block.fields[2].value == head.fields[0].value, "another authority is sent");
}

void check_text(const std::string& text, const FieldList& fields, TargetForm form, bool end_stream) {
  RequestHead head;
  const Parsed parsed = parse_request(text, {}, head);
  if (head.find(FieldId::expect) != nullptr &&
      (parsed == Parsed{Rejection::bad_expect} || parsed == Parsed{Rejection::bad_field_value}))
    return;  // row C2
  law(parsed == Parsed{Progress::complete}, "no HTTP/1 head");
  law(head.bytes == text.size() && head.skipped == 0, "more than one head");
  law(head.method == expected_method(fields), "another method");
  const FieldList expected = expected_fields(fields, end_stream);
  law(head.target == expected_target(fields, expected, form), "another target");
  law(head.fields.size() == expected.size(), "another number of fields");
  for (std::size_t i = 0; i < expected.size(); ++i)
    law(head.fields[i].name == expected[i].first && head.fields[i].value == expected[i].second,
        "another field");
  law(head.keep_alive() != asks_websocket(fields), "another end of the connection");
  check_way_through(head, fields, form);
}

/// Returns true for the rules that the proxy has in addition to those of libnghttp2.
bool is_stricter(Rejection cause) {
  switch (cause) {
    case Rejection::lookalike_framing_field:
    case Rejection::connect_with_body:
    case Rejection::too_many_fields:
    case Rejection::header_too_large:
    case Rejection::target_too_long:
    case Rejection::method_too_long:
    case Rejection::conflicting_content_length:
    case Rejection::bad_content_length:
    case Rejection::bad_scheme:
    case Rejection::bad_target:
    case Rejection::bad_authority:
    case Rejection::userinfo_in_authority:
    case Rejection::bad_host:
    case Rejection::repeated_host: return true;
    default: return false;
  }
}

void check(std::string_view text) {
  // The first byte selects the form of the target, and whether the request has a body.
  const unsigned choice = text.empty() ? 0 : static_cast<unsigned char>(text.front());
  const auto form = (choice & 1U) != 0 ? TargetForm::absolute : TargetForm::origin;
  const bool end_stream = (choice & 2U) != 0;
  const FieldList fields = fields_of(text.substr(std::min<std::size_t>(1, text.size())));
  RequestText block(form);
  block.begin(RequestText::Section::head, {});
  for (const auto& [name, value] : fields) block.add(name, value);
  const auto rejection = block.end(end_stream);
  const bool accepted_there = opinion_of_library(fields, end_stream).accepted();
  if (rejection) {
    law(block.text().empty(), "a rejected request has a text");
    const bool names_no_protocol = is_extended(fields) && !ascii::is_token(value_of(fields, ":protocol"));
    law(!accepted_there || is_stricter(*rejection) || names_no_protocol,
        "the proxy rejects what libnghttp2 accepts");
    return;
  }
  law(accepted_there, "libnghttp2 rejects what the proxy accepts");
  check_text(block.text(), fields, form, end_stream);
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
