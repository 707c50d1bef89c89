// Searches an XML body for one element, without building a tree or expanding entities.
#pragma once

#include <string_view>

#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A wholly held body in UTF-8. Each query reads it again from the front, only as far as the element that
/// decides. Does not expand entities and character references: `&amp;` is five characters. A text with a
/// document type, with improper nesting, or with nesting of more than 64 levels has no elements.
class XmlText {
 public:
  explicit XmlText(std::string_view text) : text_(text) {}
  /// Returns true if the rule holds for the element at `path`. `path` is the name of an element at any depth,
  /// or several names with dots between them, each the child of the one before. Name prefixes (`s3:Code`) are
  /// ignored. The first such element decides. Its text is taken without comments, processing instructions and
  /// surrounding blanks. An element that contains elements or has no text never matches.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
