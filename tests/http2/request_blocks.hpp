// For tests of requests that arrive over HTTP/2: translates a header block to HTTP/1 text.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http2/request_text.hpp"
#include "tests/http2/field_lists.hpp"

namespace reprise::http {

inline void PrintTo(Rejection cause, std::ostream* out) { *out << word(cause); }

/// A text, and the head that parse_request reads from it.
struct HeadOfText {
  explicit HeadOfText(std::string bytes, const HeadLimits& limits = {})
      : text(std::move(bytes)),
        accepted(parse_request(text, limits, head) == Parsed{Progress::complete} &&
                 head.bytes == text.size()) {}
  HeadOfText(const HeadOfText&) = delete;

  std::string text;
  RequestHead head;
  bool accepted;  ///< the text is exactly one head
};

/// A block that has no body, in origin-form, unless a test says otherwise.
struct Block {
  TargetForm form = TargetForm::origin;
  bool end_stream = true;
  HeadLimits limits{};
  RequestText::Section section = RequestText::Section::head;
};

struct Translation {
  std::optional<Rejection> rejection;
  std::string text;
};

inline Translation translate(const FieldList& fields, const Block& block = {}) {
  RequestText request(block.form);
  request.begin(block.section, block.limits);
  for (const auto& [name, value] : fields) request.add(name, value);
  const auto rejection = request.end(block.end_stream);
  return {rejection, request.text()};
}

inline std::string text_of(const FieldList& fields, const Block& block = {}) {
  const Translation translation = translate(fields, block);
  return translation.rejection ? "rejected: " + std::string(word(*translation.rejection)) : translation.text;
}

/// The pseudo-fields of a request for `http://a.test/`.
inline FieldList head_of(const std::string& method) {
  return {{":method", method}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "/"}};
}

}  // namespace reprise::http
