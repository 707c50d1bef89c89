// Fuzz target: the fields of an HTTP/2 response head. The check of the proxy and libnghttp2 agree on what is
// malformed, and every accepted head is exactly one HTTP/1 head with the same fields.
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/response_text.hpp"
#include "tests/fuzz/http2_blocks.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace http;

/// Lets a client session of libnghttp2 read the block as the head of a response.
Opinion opinion_of_library(const play::FieldList& fields) {
  Judge judge(nghttp2_session_client_new);
  const nghttp2_nv method{Judge::text(":method"), Judge::text("GET"), 7, 3, NGHTTP2_NV_FLAG_NONE};
  nghttp2_submit_request(judge.session(), nullptr, &method, 1, nullptr, nullptr);
  judge.discard_output();
  return judge.read(play::settings() + play::headers(1, fields));
}

void check(std::string_view text) {
  const play::FieldList fields = fields_of(text);
  ResponseText block;
  block.begin(ResponseText::Section::head, {});
  for (const auto& [name, value] : fields) block.add(name, value);
  const auto rejection = block.end();
  const bool accepted_there = opinion_of_library(fields).accepted();
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
