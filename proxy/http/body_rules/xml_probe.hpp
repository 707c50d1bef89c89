// Looks into an XML body for one element, without building a tree and without expanding anything.
#pragma once

#include <string_view>

#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A wholly held body in UTF-8. Read anew at each question, once from the front, and no further than the
/// element that decides. Entities and character references are never expanded: `&amp;` is five characters. A
/// text with a document type, one that is not nested properly, or is so more than 64 deep, has no elements.
class XmlText {
 public:
  explicit XmlText(std::string_view text) : text_(text) {}
  /// `path`: an element's name, at any depth, or names with dots between, each the child of the one before.
  /// Prefixes of names (`s3:Code`) do not count. The first such element decides, by its text without blanks
  /// around it, comments and processing instructions; one with elements inside, or without text, has none.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
