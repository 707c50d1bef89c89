// The status page: one document that is part of the program, and what a browser may do with it.
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// The parts that the build has embedded, from the files of proxy/server/admin/page.
struct PageTexts {
  std::string_view document;  ///< with `<!-- style -->` and `<!-- script -->` where these belong
  std::string_view style;
  std::string_view script;
};
PageTexts page_texts();

struct StatusPage {
  std::string text;    ///< HTML in UTF-8: style and script are in it
  std::string policy;  ///< its Content-Security-Policy: that style, that script, and this origin's responses
};

/// Put together from these; throws std::logic_error where a place for style or script is missing.
StatusPage make_status_page(const PageTexts&);
/// The one that is shipped; made once.
const StatusPage& status_page();

}  // namespace reprise::server
