// Fuzz target: the fields of an HTTP/2 response head. The check of the proxy and libnghttp2 agree on what is
// malformed, and every accepted head is exactly one HTTP/1 head with the same fields.
#include <nghttp2/nghttp2.h>

#include <memory>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/response_text.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/support/http2_frames.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

/// What libnghttp2 says of one header block.
struct Opinion {
  bool accepted = false;
  bool has_invalid_field = false;
};

/// Lets a client session of libnghttp2 read the block as the head of a response.
Opinion opinion_of_library(const play::FieldList& fields) {
  nghttp2_session_callbacks* set = nullptr;
  nghttp2_session_callbacks_new(&set);
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      set, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_HEADERS) static_cast<Opinion*>(user)->accepted = true;
        return 0;
      });
  nghttp2_session_callbacks_set_on_invalid_header_callback(
      set, [](nghttp2_session*, const nghttp2_frame*, const std::uint8_t*, std::size_t, const std::uint8_t*,
              std::size_t, std::uint8_t, void* user) {
        static_cast<Opinion*>(user)->has_invalid_field = true;
        return 0;
      });
  Opinion opinion;
  nghttp2_session* made = nullptr;
  nghttp2_session_client_new(&made, set, &opinion);
  nghttp2_session_callbacks_del(set);
  const std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session(made, nghttp2_session_del);
  const auto text = [](std::string_view bytes) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
  };
  const nghttp2_nv method{text(":method"), text("GET"), 7, 3, NGHTTP2_NV_FLAG_NONE};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, nullptr, 0);
  nghttp2_submit_request(made, nullptr, &method, 1, nullptr, nullptr);
  const std::uint8_t* sent = nullptr;
  while (nghttp2_session_mem_send(made, &sent) > 0) {
  }
  const std::string bytes = play::settings() + play::headers(1, fields);
  if (nghttp2_session_mem_recv(made, text(bytes), bytes.size()) < 0) opinion.accepted = false;
  return opinion;
}

/// Cuts the input into fields: a line each, `name=value`.
play::FieldList fields_of(std::string_view text) {
  play::FieldList fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size());
    const std::string_view field = text.substr(0, end);
    const std::size_t middle = std::min(field.find('='), field.size());
    fields.emplace_back(field.substr(0, middle), field.substr(std::min(middle + 1, field.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

void check(std::string_view text) {
  const play::FieldList fields = fields_of(text);
  ResponseText block;
  block.begin(ResponseText::Section::head, {});
  for (const auto& [name, value] : fields) block.add(name, value);
  const auto rejection = block.end();
  const Opinion library = opinion_of_library(fields);
  const bool accepted_there = library.accepted && !library.has_invalid_field;
  if (!rejection) {
    // libnghttp2 refuses a length that a status without a body cannot have.
    const bool has_no_body = block.status() < 200 || block.status() == 204 || block.status() == 304;
    law(accepted_there || has_no_body, "libnghttp2 rejects what the proxy accepts");
    ResponseHead head;
    law(parse_response(block.text(), {}, "GET", head) == Parsed{Progress::complete}, "no HTTP/1 head");
    law(head.bytes == block.text().size(), "more than one head");
    law(head.status == block.status(), "another status");
    law(head.fields.size() + 1 == fields.size(), "another number of fields");
    for (std::size_t i = 0; i < head.fields.size(); ++i)
      law(head.fields[i].name == fields[i + 1].first && head.fields[i].value == fields[i + 1].second,
          "another field");
    return;
  }
  // Rules that the proxy has in addition.
  const bool is_stricter =
      *rejection == Rejection::lookalike_framing_field || *rejection == Rejection::too_many_fields ||
      *rejection == Rejection::header_too_large || *rejection == Rejection::conflicting_content_length ||
      *rejection == Rejection::bad_status || *rejection == Rejection::bad_content_length;
  law(!accepted_there || is_stricter, "the proxy rejects what libnghttp2 accepts");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::check({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
