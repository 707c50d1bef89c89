// Text for manual pages: plain words and Markdown as roff, which man(1) reads.
#pragma once

#include <string>
#include <string_view>

namespace reprise::cli {

/// Plain text: a backslash and a hyphen are themselves, and no line begins with a request.
std::string roff(std::string_view text);

/// A page in Markdown: headings become sections, tables become lists of tagged paragraphs, code becomes bold.
/// Knows what config/README.md is made of: headings, paragraphs, lists, tables, code, bold text and links.
/// The title is left out.
std::string roff_of_markdown(std::string_view page);

}  // namespace reprise::cli
