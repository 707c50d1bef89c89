// Converts plain text and Markdown to roff, the format of manual pages.
#pragma once

#include <string>
#include <string_view>

namespace reprise::cli {

/// Converts plain text to roff. Backslashes and hyphens are printed literally, and no line starts a roff
/// request.
std::string roff(std::string_view text);

/// Converts a Markdown page to roff. Headings become sections, tables become lists of tagged paragraphs, and
/// code becomes bold. Supports only the elements in config/README.md: headings, paragraphs, lists, tables,
/// code, bold text and links. Omits the title of the page.
std::string roff_of_markdown(std::string_view page);

}  // namespace reprise::cli
