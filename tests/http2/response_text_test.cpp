// Tests which fields of an HTTP/2 response are rejected or dropped, with their causes.
#include "proxy/http/http2/response_text.hpp"

#include <gtest/gtest.h>

#include "tests/http2/field_lists.hpp"

namespace reprise::http {
namespace {

std::string response_text(const FieldList& fields,
                          ResponseText::Section section = ResponseText::Section::head) {
  ResponseText response;
  response.begin(section, {});
  for (const auto& [name, value] : fields) response.add(name, value);
  const auto rejection = response.end();
  return rejection ? std::string(word(*rejection)) : response.text();
}

TEST(ResponseText, M50_each_field_that_http_2_forbids_has_the_cause_that_fits) {
  const std::pair<FieldList, const char*> cases[] = {
      {{{"transfer-encoding", "chunked"}}, "bad_transfer_encoding"},
      {{{"connection", "close"}}, "bad_field_name"},
      {{{"te", "gzip"}}, "bad_field_value"},
      {{{"content_length", "5"}}, "lookalike_framing_field"},
      {{{"content-length", "5,5"}}, "bad_content_length"},
      {{{"content-length", "5"}, {"content-length", "5"}}, "conflicting_content_length"},
      {{{"te", "trailers"}}, "HTTP/1.1 200 OK\r\nte: trailers\r\n\r\n"},
  };
  for (const auto& [fields, expected] : cases)
    EXPECT_EQ(response_text(FieldList{{":status", "200"}} + fields), expected);
}

TEST(ResponseText, trailers_that_have_a_meaning_only_in_a_head_are_dropped) {
  EXPECT_EQ(response_text({{"grpc-status", "0"},
                           {"set-cookie", "a=1"},
                           {"date", "now"},
                           {"content-type", "text/plain"},
                           {"content-md5", "x"}},
                          ResponseText::Section::trailers),
            "grpc-status: 0\r\ncontent-md5: x\r\n");
}

}  // namespace
}  // namespace reprise::http
