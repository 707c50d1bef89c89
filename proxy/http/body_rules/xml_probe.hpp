// Searches an XML body for one element, without building a tree or expanding entities.
#pragma once

#include <string_view>

#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A completely held body in UTF-8. Each query reads it again from the start, up to the first matching
/// element. Does not expand entities and character references: `&amp;` is five characters. No query matches
/// in a body that has a document type, improper nesting, or more than 64 levels of nesting.
class XmlText {
 public:
  explicit XmlText(std::string_view text) : text_(text) {}
  /// Returns true if the rule holds for the text of the first element at `path`. `path` is the name of an
  /// element at any depth, or several names separated by dots, each a child of the previous one. Name
  /// prefixes (`s3:Code`) are ignored. Comments, processing instructions and surrounding blanks are removed
  /// from the text. An element that contains elements or has no text never matches.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
